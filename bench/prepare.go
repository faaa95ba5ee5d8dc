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
	// Dataset is what revgnn is given for the graph: the name of a dataset, or the path in File. File is the path of an
	// .npz with the keys of Platonov et al. All other programs read the graph from it.
	Dataset string `json:"dataset"`
	File    string `json:"file"`
	// Weights is the path of an .npz with the initial weights.
	Weights  string `json:"weights"`
	Nodes    int    `json:"nodes"`
	Edges    int    `json:"edges"`
	Features int    `json:"features"`
	Classes  int    `json:"classes"`
	// Layout is the layout of the graph (the data structure) in which PyTorch Geometric is fastest. See
	// [options.trial].
	Layout string `json:"layout,omitempty"`
}

// entries returns the number of entries of the adjacency matrix with self loops. The matrix has two entries for each
// edge and one for each node.
func (p Prepared) entries() int { return 2*p.Edges + p.Nodes }

const weightSeed = 1

// prepare makes the files of a case in the folder out. It runs in a process of its own, so that the process that starts
// the compared programs needs little memory. The reason is that the operating system counts the memory of the starting
// process in the peak memory of each program that it starts.
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

// graphFile returns the graph of a case: the name or path that revgnn is given, and the path of the graph's file. If
// the file is not there, graphFile downloads a public dataset, or generates a synthetic graph.
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

// initialWeights draws the initial weights of a case, and writes them to a file. The names of the arrays are those of
// the authors' code. For models that the authors' code does not have, they are revgnn's own names.
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

// drawn returns random initial weights. Their distributions are those that PyTorch and PyTorch Geometric use. drawn
// does not bound the weights, since the models do so themselves. Arrays that are not trained, such as the statistics of
// batch normalisation, are not random. They have the values with which every training starts.
func drawn(c train.Config, features, classes int) (map[string]train.Array, error) {
	list, err := models.Parameters(c, features, classes)
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
