package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

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

// prepare makes the files of a case in the folder out.
func prepare(ctx context.Context, c Case, out string, options datasets.Options) (p Prepared, err error) {
	synthetic, is, err := parseSynthetic(c.Dataset)
	if err != nil {
		return p, err
	}
	if is {
		p.File, err = synthetic.ensure(filepath.Join(out, "graphs"))
		p.Dataset = p.File
	} else {
		p.Dataset = c.Dataset
		p.File, err = public(ctx, c.Dataset, options)
	}
	if err != nil {
		return p, err
	}
	z, err := npz.Open(p.File)
	if err != nil {
		return p, err
	}
	defer z.Close()
	features, err := z.Shape("node_features", 2)
	if err != nil {
		return p, err
	}
	edges, err := z.Shape("edges", 2)
	if err != nil {
		return p, err
	}
	p.Nodes, p.Features, p.Edges = features[0], features[1], edges[0]
	labels, _, err := z.Int64s("node_labels", 1)
	if err != nil {
		return p, err
	}
	p.Classes = int(slices.Max(labels)) + 1
	weights, err := drawn(c.config, p.Features, p.Classes)
	if err != nil {
		return p, err
	}
	p.Weights = filepath.Join(out, "weights", c.Name+".npz")
	if err := os.MkdirAll(filepath.Dir(p.Weights), 0o777); err != nil {
		return p, err
	}
	return p, trained.WriteWeights(p.Weights, weights)
}

// public is the file of a public dataset, downloaded if it is missing.
func public(ctx context.Context, name string, options datasets.Options) (path string, err error) {
	info, err := datasets.Info(name)
	if err != nil {
		return "", err
	}
	if info.Format != data.Platonov {
		return "", fmt.Errorf("dataset %s is no single .npz file with Platonov's keys, which the peer reads: choose one "+
			"that is", name)
	}
	dir, err := datasets.Dir(options.Dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, info.Files[0].Name), datasets.Get(ctx, name, options)
}

// drawn are initial weights that all programs start from, under the names of PyTorch's parameters.
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
