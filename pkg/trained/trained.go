// Package trained writes trained models to files, reads them, and predicts with them, on the graph of the training or
// another one with the same features:
//
//	model, err := trained.Read("out/run/split0.safetensors")
//	graph, err := datasets.Load(ctx, "my-graph", datasets.Options{})
//	prediction, err := model.Predict(nil, graph)
//
// Such a file has the parameters of the epoch with the best validation metric; its metadata has all else that a
// prediction needs: see [About].
package trained

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Model is a trained model.
type Model struct {
	About
	// Weights are the parameters by name, and the running statistics of batch normalisation.
	Weights map[string]train.Array
	// file is how error messages name the model.
	file string
}

// New returns the model that a training has produced, with the parameters of the best epoch, and an error if there is
// no best epoch, for example because the loss was not finite in the first one.
func New(g *graphs.Graph, c train.Config, engine string, r *train.Result) (*Model, error) {
	if len(r.Weights) == 0 {
		return nil, fmt.Errorf("the training of %s on %s has no best epoch, and so no parameters to keep (it ended as "+
			"%s after %d epochs)", c.Model, g.Name, r.Status, r.Epochs)
	}
	return &Model{About: Describe(g, c, engine, r), Weights: r.Weights, file: "the model"}, nil
}

// Write writes the model to a .safetensors file, as a whole or not at all, and with a checksum.
func (m *Model) Write(path string) error {
	text, err := json.Marshal(m.About)
	if err != nil {
		return fmt.Errorf("the model cannot be written: %w", err)
	}
	return writeFile(path, m.Weights, map[string]string{key: string(text)})
}

// Read reads a file that [Model.Write] or 'revgnn train --out' wrote. A file that was changed is an error.
func Read(path string) (*Model, error) {
	f, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return f.Model()
}

// Model returns the model of a file that [Model.Write] or 'revgnn train --out' wrote.
func (f File) Model() (*Model, error) {
	about, err := parse(f.path, f.metadata)
	if err != nil {
		return nil, err
	}
	if !f.sealed {
		return nil, fmt.Errorf("%s has lost the checksum that revgnn wrote into it, by damage or by another program: "+
			"give the file as it was written, or train the model again", f.path)
	}
	return &Model{About: about, Weights: f.Parameters, file: f.path}, nil
}

// Prediction holds a model's outputs for the nodes of a graph, in its order. Matrices are stored row by row.
type Prediction struct {
	IDs, Classes []string
	// Shape [nodes, classes]; rows add up to 1.
	Probabilities []float64
	// Logits has the shape [nodes, Outputs]: a logit for each class, or that of the second of two. Representation is
	// what the model's last layer reads, [nodes, Width].
	Logits, Representation []float32
	Outputs, Width         int
	Engine                 string
}

// Predict computes the class probabilities of a graph's nodes in evaluation mode: without dropout, and with the running
// statistics of batch normalisation. The graph must have the features that the model was trained on, in the same order;
// they are row-normalised if those were. Labels and splits matter only if the model reads labels
// ([models.Kind].ReadsLabels). A nil engine stands for the first that is available ([engine.Open]).
func (m *Model) Predict(e *engine.Engine, g *graphs.Graph) (*Prediction, error) {
	e, read, known, wanted, err := m.on(e, g)
	if err != nil {
		return nil, err
	}
	p, err := train.Evaluate(e, read, len(m.Classes), m.Config, wanted, known)
	if err != nil {
		return nil, err
	}
	out := &Prediction{Classes: m.Classes, Probabilities: p.Probabilities(), Logits: p.Logits,
		Representation: p.Representation, Outputs: p.Outputs, Width: p.Width, Engine: e.Name}
	for i := range g.NumNodes {
		out.IDs = append(out.IDs, g.ID(i))
	}
	return out, nil
}

// Trace returns the states of the model on a graph, as [train.Trace] does. The graph is as for [Model.Predict].
func (m *Model) Trace(e *engine.Engine, g *graphs.Graph, layers []int) (*train.Trajectory, error) {
	e, read, known, wanted, err := m.on(e, g)
	if err != nil {
		return nil, err
	}
	return train.TraceOn(e, read, len(m.Classes), m.Config, wanted, known, layers)
}

// on returns what an evaluation of the model on a graph needs: an engine, the graph as the model reads it, the nodes
// whose labels the model may read, and its weights.
func (m *Model) on(e *engine.Engine, g *graphs.Graph) (_ *engine.Engine, read *graphs.Graph, known []bool,
	wanted map[string]train.Array, err error) {
	if err := m.fits(g, m.file); err != nil {
		return nil, nil, nil, nil, err
	}
	if e == nil {
		if e, err = engine.Open(""); err != nil {
			return nil, nil, nil, nil, err
		}
	}
	own := *g
	if m.RowNormalised && !g.RowNormalised {
		own.Features = slices.Clone(g.Features)
		datasets.RowNormalise(own.Features, own.NumFeatures)
	}
	if m.readsLabels() {
		known = g.Splits[m.Split].Train
	} else {
		own.Labels = make([]int32, g.NumNodes)
	}
	if wanted, _, err = Pick(m.Config.Config, m.Features, len(m.Classes), m.Weights); err != nil {
		return nil, nil, nil, nil, fmt.Errorf("%s: %w", m.file, err)
	}
	return e, &own, known, wanted, nil
}
