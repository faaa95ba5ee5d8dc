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
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
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
	train.Prediction
	Engine string
	// Notes say what the model's preparation does not know of the graph, such as categories.
	Notes []string
}

// Predict computes the class probabilities of a graph's nodes in evaluation mode: without dropout, and with the running
// statistics of batch normalisation. The graph must have the features that the model was trained on, in the same order,
// or the columns if those were prepared; what was done to them in training is done again. Labels and splits matter only
// if the model reads labels ([models.Kind].ReadsLabels). A nil engine stands for the first that is available
// ([engine.Open]).
func (m *Model) Predict(e *engine.Engine, g *graphs.Graph) (*Prediction, error) {
	x, err := m.on(e, g)
	if err != nil {
		return nil, err
	}
	p, err := train.Predict(x.engine, x.graph, len(m.Classes), m.Config, x.weights, x.known)
	if err != nil {
		return nil, err
	}
	out := &Prediction{Classes: m.Classes, Probabilities: p.Probabilities(), Prediction: *p, Engine: x.engine.Name,
		Notes: x.notes}
	for i := range g.NumNodes {
		out.IDs = append(out.IDs, g.ID(i))
	}
	return out, nil
}

// Trace returns the states of the model on a graph, as [train.Trace] does. The graph is as for [Model.Predict].
func (m *Model) Trace(e *engine.Engine, g *graphs.Graph, layers []int) (*train.Trajectory, error) {
	x, err := m.on(e, g)
	if err != nil {
		return nil, err
	}
	return train.TraceOn(x.engine, x.graph, len(m.Classes), m.Config, x.weights, x.known, layers)
}

// evaluation is what an evaluation of a model on a graph needs: the graph is as the model reads it, and known are the
// nodes whose labels the model may read.
type evaluation struct {
	engine  *engine.Engine
	graph   *graphs.Graph
	notes   []string
	known   []bool
	weights map[string]train.Array
}

func (m *Model) on(e *engine.Engine, g *graphs.Graph) (x evaluation, err error) {
	own := *g
	if len(own.Labels) == 0 {
		own.Labels = slices.Repeat([]int32{graphs.Unlabelled}, g.NumNodes)
	}
	own.Splits = nil // which do not matter here
	if err := own.Validate(); err != nil {
		return x, err
	}
	own.Splits = g.Splits
	if m.RowNormalised && !g.RowNormalised {
		own.Features = slices.Clone(g.Features)
		graphs.RowNormalise(own.Features, own.NumFeatures)
		own.RowNormalised = true
	}
	if x.graph, x.notes, err = m.Prepared.Apply(&own); err != nil {
		return x, fmt.Errorf("%s: %w", m.file, err)
	}
	if err := m.fits(g, x.graph, m.file); err != nil {
		return x, err
	}
	if m.Weighted && !g.Weighted() {
		x.notes = append(x.notes, fmt.Sprintf("the model was trained with weights of edges, which %s has not: each counts 1", g.Name))
	}
	if x.engine = e; e == nil {
		if x.engine, err = engine.Open(""); err != nil {
			return x, err
		}
	}
	if m.readsLabels() {
		x.known = g.Splits[m.Split].Train
	} else {
		read := *x.graph
		read.Labels = make([]int32, g.NumNodes)
		x.graph = &read
	}
	if x.weights, _, err = Pick(m.Config, m.Features, len(m.Classes), m.Weights); err != nil {
		err = fmt.Errorf("%s: %w", m.file, err)
	}
	return x, err
}

// key is the entry in the metadata of a model's file that has the [About] as JSON.
const key = "revgnn.model"

// Files with another format are refused: they may say what this program does not know.
const format = 1

// About is what a file says about its model, in addition to the parameters.
type About struct {
	Format int `json:"format"`
	// Config has the settings of the model and of its training.
	Config train.Config `json:"config"`
	// FeatureNames may be nil. RowNormalised says that the model was trained on row-normalised features
	// ([graphs.RowNormalise]).
	Features      int      `json:"features"`
	FeatureNames  []string `json:"feature_names,omitempty"`
	RowNormalised bool     `json:"row_normalised"`
	// Prepared is what makes these features of a table, or nil. Weighted says that the model read weights of edges.
	Prepared *graphs.Prepared `json:"preparation,omitempty"`
	Weighted bool             `json:"weighted,omitempty"`
	// Classes are in the order of the model's outputs.
	Classes []string `json:"classes"`
	// The graph that the model was trained on; its checksum is that of the graph as it was loaded, without directions
	// if the model reads none.
	Dataset  string `json:"dataset"`
	Nodes    int    `json:"nodes"`
	Checksum string `json:"checksum"`
	Split    int    `json:"split"`
	Seed     uint64 `json:"seed"`
	// The file has the parameters after the best epoch; the metrics are with these.
	BestEpoch int          `json:"best_epoch"`
	Metric    string       `json:"metric"`
	Val       train.Number `json:"val"`
	Test      train.Number `json:"test"`
	// Thresholds are, for two classes, those of [train.Measures].
	Thresholds map[string]float64 `json:"thresholds,omitempty"`
	Engine     string             `json:"engine"`
	Versions   map[string]string  `json:"versions"`
}

// Describe returns the description of a model that was trained on g, with the configuration c, on the named engine.
func Describe(g *graphs.Graph, c train.Config, engine string, r *train.Result) About {
	a := About{Format: format, Config: c.Resolved(), Features: g.NumFeatures, FeatureNames: g.FeatureNames,
		RowNormalised: g.RowNormalised, Weighted: c.InputGraph(g).Weighted(), Classes: g.Classes(), Dataset: g.Name, Nodes: g.NumNodes,
		Checksum: c.InputGraph(g).Checksum(), Split: r.Split, Seed: r.Seed, BestEpoch: r.BestEpoch,
		Metric: train.Metric(c, g).Name, Val: r.Val, Test: r.Test, Thresholds: r.Measures.Thresholds, Engine: engine,
		Versions: machine.Versions()}
	if r.Prepared != nil {
		a.Prepared, a.Features, a.FeatureNames = r.Prepared, len(r.Prepared.Names), r.Prepared.Names
	}
	return a
}

// Threshold is, for two classes, the probability above which a node is taken for class 1: the one that was best for the
// training's metric on validation nodes, or [metrics.Even] if the metric needs none.
func (a About) Threshold() float64 { return metrics.Named(a.Metric).At(a.Thresholds) }

// parse reads the About from the metadata of a file.
func parse(path string, metadata map[string]string) (a About, err error) {
	text, has := metadata[key]
	if !has {
		return a, fmt.Errorf("%s does not say what model its weights are of, as files of PyTorch and of earlier "+
			"versions of revgnn don't: train the model again with 'revgnn train --out DIR', or give predict the model's "+
			"settings as flags (see its help) to evaluate the weights as in training", path)
	}
	var version struct{ Format int }
	if err := json.Unmarshal([]byte(text), &version); err == nil && version.Format != format {
		return a, fmt.Errorf("%s is of another version of revgnn (its format is %d, and this one reads %d): predict "+
			"with the revgnn that wrote it, or train the model again", path, version.Format, format)
	}
	if err := files.Strict([]byte(text), &a); err != nil {
		return a, fmt.Errorf("%s: what it says of its model can't be read (%w): predict with the revgnn that wrote it",
			path, err)
	}
	err = cmp.Or(a.Config.Validate(), a.Prepared.Validate())
	switch {
	case err != nil:
	case a.Features < 1:
		err = fmt.Errorf("%d features per node", a.Features)
	case len(a.Classes) < 2:
		err = fmt.Errorf("%d classes", len(a.Classes))
	case a.FeatureNames != nil && len(a.FeatureNames) != a.Features,
		a.Prepared != nil && len(a.Prepared.Names) != a.Features:
		err = fmt.Errorf("%d names for %d features", len(a.FeatureNames), a.Features)
	case len(a.Thresholds) > 0 && len(a.Classes) != 2:
		err = fmt.Errorf("thresholds for %d classes", len(a.Classes))
	case a.Split < 0:
		err = errors.New("a split below 0")
	}
	if err != nil {
		err = fmt.Errorf("%s: what it says of its model can't be (%w): train the model again", path, err)
	}
	return a, err
}

// fits returns an error if the model cannot be used on a graph, which it reads as prepared. One with a weight for each
// node needs as many nodes as in training, and one that reads labels when it predicts needs the same graph.
func (a About) fits(g, prepared *graphs.Graph, file string) error {
	if len(prepared.Columns) > 0 {
		return fmt.Errorf("%s is of a model for finite numbers alone, but %s has other columns (%s): give numbers, or "+
			"train a model on such columns", file, g.Name, g.ListFeatures())
	}
	if prepared.NumFeatures != a.Features {
		return fmt.Errorf("%s is of a model for graphs with %d features per node, as %s has, but %s has %d: give a "+
			"graph with the same features in the same order", file, a.Features, a.Dataset, g.Name, prepared.NumFeatures)
	}
	if a.FeatureNames != nil && prepared.FeatureNames != nil {
		for i, name := range a.FeatureNames {
			if !strings.EqualFold(name, prepared.FeatureNames[i]) {
				return fmt.Errorf("%s is of a model whose feature %d is %q, but that of %s is %q: give a graph with the "+
					"same features in the same order", file, i+1, name, g.Name, prepared.FeatureNames[i])
			}
		}
	}
	if g.RowNormalised && !a.RowNormalised {
		return fmt.Errorf("%s is of a model for features as they are stored, but those of %s are divided by their sum "+
			"when it is loaded: give the features as an .npz file or a folder of your own", file, g.Name)
	}
	parameters, err := models.Parameters(a.Config, a.Features, len(a.Classes))
	if err != nil {
		return err
	}
	for _, p := range parameters {
		if p.Nodes && g.NumNodes != a.Nodes {
			return fmt.Errorf("%s is of %s, which has a weight for each of the %d nodes of %s, but %s has %d: give "+
				"that graph, or train a model without such weights", file, a.Config.Model, a.Nodes, a.Dataset, g.Name,
				g.NumNodes)
		}
	}
	if a.readsLabels() && (a.Split >= len(g.Splits) || a.Config.InputGraph(g).Checksum() != a.Checksum) {
		return fmt.Errorf("%s is of %s, which reads the labels of its training nodes when it predicts, and %s is not "+
			"the graph that it was trained on, %s: give that one as it was, or train another model", file,
			a.Config.Model, g.Name, a.Dataset)
	}
	return nil
}

func (a About) readsLabels() bool {
	k, err := models.Lookup(a.Config.Model)
	return err == nil && k.ReadsLabels
}
