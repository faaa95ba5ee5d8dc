package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// Prepared says where the files of a case are, and how large its graph is.
type Prepared struct {
	// Dataset is what revgnn is given: a name, or the path in File of an .npz.
	Dataset string `json:"dataset"`
	File    string `json:"file"`
	// Weights is the path of an .npz with the initial weights.
	Weights  string `json:"weights"`
	Nodes    int    `json:"nodes"`
	Edges    int    `json:"edges"`
	Features int    `json:"features"`
	Classes  int    `json:"classes"`
	// Layout is the fastest for PyTorch Geometric ([options.trial]).
	Layout string `json:"layout,omitempty"`
}

// entries are those of the adjacency with self loops.
func (p Prepared) entries() int { return 2*p.Edges + p.Nodes }

const weightSeed = 1

// prepare makes the files of a case, in a process of its own.
func prepare(ctx context.Context, c Case, out string, options datasets.Options) (p Prepared, err error) {
	if p.Dataset, p.File, err = graphFile(ctx, c.Dataset, out, options); err != nil {
		return p, err
	}
	z, err := npz.Open(p.File)
	if err != nil {
		return p, err
	}
	defer z.Close()
	for name, set := range map[string]func(shape []int){
		"node_features": func(s []int) { p.Nodes, p.Features = s[0], s[1] },
		"edges":         func(s []int) { p.Edges = s[0] },
	} {
		a, err := z.Array(name, 2)
		if err != nil {
			return p, err
		}
		set(a.Shape)
	}
	labels, _, err := z.Int64s("node_labels", 1)
	if err != nil {
		return p, err
	}
	for _, l := range labels {
		p.Classes = max(p.Classes, int(l)+1)
	}
	p.Weights = filepath.Join(out, "weights", c.Name+".npz")
	return p, initialWeights(c.Config, p)
}

// graphsIn returns the folder of synthetic graphs. out is the folder of results.
func graphsIn(out string) string { return filepath.Join(out, "graphs") }

func graphFile(ctx context.Context, dataset, out string, options datasets.Options) (name, file string, err error) {
	s, ok, err := parseSynthetic(dataset)
	if err != nil {
		return "", "", err
	}
	if ok {
		file, err = s.ensure(graphsIn(out))
		return file, file, err
	}
	info, err := datasets.Info(dataset)
	if err != nil {
		return "", "", err
	}
	if info.Format != data.Platonov {
		return "", "", fmt.Errorf("dataset %s is no single .npz file with Platonov's keys, which the peer reads: "+
			"choose one that is", dataset)
	}
	dir, err := datasets.Dir(options.Dir)
	if err != nil {
		return "", "", err
	}
	return dataset, filepath.Join(dir, info.Files[0].Name), datasets.Get(ctx, dataset, options)
}

// initialWeights draws the initial weights that all programs start from, under the names of PyTorch's parameters.
func initialWeights(c train.Config, p Prepared) error {
	parameters, err := drawn(c, p.Features, p.Classes)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.Weights), 0o777); err != nil {
		return err
	}
	return trained.WriteWeights(p.Weights, parameters)
}

func drawn(c train.Config, features, classes int) (map[string]train.Array, error) {
	list, err := models.Parameters(c.Config, features, classes)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(weightSeed, 0))
	parameters := map[string]train.Array{}
	for _, p := range list {
		parameters[p.Name] = train.Array{Shape: p.Shape, Values: p.Draw(rng)}
	}
	return parameters, nil
}
