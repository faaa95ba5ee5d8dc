package trained

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/weights"
)

// Model is a trained model.
type Model struct {
	About
	// Weights has the values of the model's parameters, by name. It also has the running statistics of batch
	// normalisation, if the model uses this.
	Weights map[string]train.Array
	// file is how error messages name the model. It is the name of the model's file if the model was read from a file.
	file string
}

// New returns the model that a training has produced, with the parameters of the best epoch. The arguments describe the
// training: the graph g, the configuration c, the name of the engine, and the result r. New returns an error if there
// is no best epoch, for example because the loss was not finite in the first epoch.
func New(g *graphs.Graph, c train.Config, engine string, r *train.Result) (*Model, error) {
	if len(r.Weights) == 0 {
		return nil, fmt.Errorf("the training of %s on %s has no best epoch, and so no parameters to keep (it ended as "+
			"%s after %d epochs)", c.Model, g.Name, r.Status, r.Epochs)
	}
	return &Model{About: Describe(g, c, engine, r), Weights: r.Weights, file: "the model"}, nil
}

// Write writes the model to a file whose name ends in .safetensors. The file is written as a whole or not at all. It
// has a checksum, by which [Read] notices if a byte has changed.
func (m *Model) Write(path string) error {
	text, err := json.Marshal(m.About)
	if err != nil {
		return fmt.Errorf("the model cannot be written: %w", err)
	}
	return weights.WriteFile(path, m.Weights, map[string]string{key: string(text)})
}

// Read reads a file that [Model.Write] or 'revgnn train --out' wrote. It returns an error if the file has no
// description of its model ([About]), or if the file has been changed.
func Read(path string) (*Model, error) {
	f, err := weights.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Of(path, f)
}

// Of does the same as [Read] for a file that has been read already. The argument path is the name of this file, which
// error messages use.
func Of(path string, f weights.File) (*Model, error) {
	about, err := parse(path, f.Metadata)
	if err != nil {
		return nil, err
	}
	if !f.Sealed {
		return nil, fmt.Errorf("%s has lost the checksum that revgnn wrote into it, by damage or by another program: "+
			"give the file as it was written, or train the model again", path)
	}
	return &Model{About: about, Weights: f.Parameters, file: path}, nil
}

// Prediction holds a model's outputs for the nodes of a graph. The nodes have the same order as in the graph. Matrices
// are stored row by row.
type Prediction struct {
	// IDs are the names of the nodes. Classes are the names of the classes, in the order of the columns of
	// Probabilities.
	IDs, Classes []string
	// Probabilities is a matrix of shape [nodes, classes]. Each row has one node's probabilities of the classes, which
	// add up to 1.
	Probabilities []float64
	// Logits is a matrix of shape [nodes, Outputs]. It has one logit for each class. If there are two classes, it has
	// only the logit of the second class. Representation is a matrix of shape [nodes, Width]. It has the features that
	// the model's last layer reads.
	Logits, Representation []float32
	Outputs, Width         int
	// Engine is the name of the engine that computed the prediction.
	Engine string
}

// Predict computes the class probabilities of a graph's nodes, in evaluation mode (without dropout, and with the
// running statistics of batch normalisation). The graph needs neither labels nor splits, unless the model reads labels
// ([models.Kind].ReadsLabels). The graph must have the features that the model was trained on, in the same order. If
// the model was trained on row-normalised features ([datasets.RowNormalise]), Predict normalises the features of this
// graph in the same way, unless they are normalised already.
//
// If e is nil, Predict uses the first engine that is available ([engine.Open]).
func (m *Model) Predict(e *engine.Engine, g *graphs.Graph) (*Prediction, error) {
	if err := m.fits(g, m.file); err != nil {
		return nil, err
	}
	if e == nil {
		var err error
		if e, err = engine.Open(""); err != nil {
			return nil, err
		}
	}
	read := *g
	if m.RowNormalised && !g.RowNormalised {
		read.Features = slices.Clone(g.Features)
		datasets.RowNormalise(read.Features, read.NumFeatures)
	}
	var known []bool
	if m.readsLabels() {
		known = g.Splits[m.Split].Train
	} else {
		read.Labels = make([]int32, g.NumNodes)
	}
	wanted, _, err := weights.For(m.Config.Config, m.Features, len(m.Classes), m.Weights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.file, err)
	}
	p, err := train.Evaluate(e, &read, len(m.Classes), m.Config, wanted, known)
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
