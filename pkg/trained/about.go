package trained

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// key is the name of an entry in the metadata of a model's file. The value of this entry is the [About], as JSON.
const key = "revgnn.model"

// format is the version of [About]. A file with another version is refused, since its About may have entries that this
// program does not know.
const format = 1

// About is what a file says about its model, in addition to the parameters.
type About struct {
	Format int `json:"format"`
	// Config is the whole configuration: the settings of the model and of its training.
	Config train.Config `json:"config"`
	// Features is the number of features per node. FeatureNames are the names of the features, or nil if they have no
	// names. RowNormalised is true if the model was trained on row-normalised features: each node's features were
	// divided by their sum if this sum exceeds 1 ([datasets.RowNormalise]).
	Features      int      `json:"features"`
	FeatureNames  []string `json:"feature_names,omitempty"`
	RowNormalised bool     `json:"row_normalised"`
	// Classes are the classes' names, in the order of the model's outputs.
	Classes []string `json:"classes"`
	// Dataset is the name of the graph that the model was trained on, and Nodes is the number of its nodes. Checksum is
	// the checksum of this graph as the model sees it: without the directions of edges, unless the model reads them
	// ([models.Seen]). Split and Seed are the split and the seed of the training.
	Dataset  string `json:"dataset"`
	Nodes    int    `json:"nodes"`
	Checksum string `json:"checksum"`
	Split    int    `json:"split"`
	Seed     uint64 `json:"seed"`
	// BestEpoch is the number of the best epoch: the file has the parameters after this epoch. Metric is the name of
	// the metric. With these parameters, Val is the metric on the validation nodes, and Test is the metric on the test
	// nodes.
	BestEpoch int          `json:"best_epoch"`
	Metric    string       `json:"metric"`
	Val       train.Number `json:"val"`
	Test      train.Number `json:"test"`
	// Engine is the name of the engine that trained the model. Versions has the versions of revgnn, of Go, and of the
	// Go modules that results depend on. Its keys are their names.
	Engine   string            `json:"engine"`
	Versions map[string]string `json:"versions"`
}

// Describe returns the description of a trained model. The arguments describe its training: the graph g, the
// configuration c, the name of the engine, and the result r.
func Describe(g *graphs.Graph, c train.Config, engine string, r *train.Result) About {
	return About{Format: format, Config: c.Resolved(), Features: g.NumFeatures, FeatureNames: g.FeatureNames,
		RowNormalised: g.RowNormalised, Classes: g.Classes(), Dataset: g.Name, Nodes: g.NumNodes,
		Checksum: models.Seen(c.Config, g).Checksum(), Split: r.Split, Seed: r.Seed, BestEpoch: r.BestEpoch,
		Metric: train.Metric(g), Val: r.Val, Test: r.Test, Engine: engine, Versions: machine.Versions()}
}

// parse reads the About from the metadata of a model's file. The argument path is the name of this file, which error
// messages use.
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
	if err := a.validate(); err != nil {
		return a, fmt.Errorf("%s: what it says of its model can't be (%w): train the model again", path, err)
	}
	return a, nil
}

func (a About) validate() error {
	if err := a.Config.Validate(); err != nil {
		return err
	}
	switch {
	case a.Features < 1:
		return fmt.Errorf("%d features per node", a.Features)
	case len(a.Classes) < 2:
		return fmt.Errorf("%d classes", len(a.Classes))
	case a.FeatureNames != nil && len(a.FeatureNames) != a.Features:
		return fmt.Errorf("%d names for %d features", len(a.FeatureNames), a.Features)
	case a.Split < 0:
		return errors.New("a split below 0")
	}
	return nil
}

// fits returns an error if the model cannot be used on the graph g. The argument file is the name of the model's file,
// which the error message uses.
func (a About) fits(g *graphs.Graph, file string) error {
	if g.NumFeatures != a.Features {
		return fmt.Errorf("%s is of a model for graphs with %d features per node, as %s has, but %s has %d: give a "+
			"graph with the same features in the same order", file, a.Features, a.Dataset, g.Name, g.NumFeatures)
	}
	if a.FeatureNames != nil && g.FeatureNames != nil {
		for i, name := range a.FeatureNames {
			if !strings.EqualFold(name, g.FeatureNames[i]) {
				return fmt.Errorf("%s is of a model whose feature %d is %q, but that of %s is %q: give a graph with the "+
					"same features in the same order", file, i+1, name, g.Name, g.FeatureNames[i])
			}
		}
	}
	if g.RowNormalised && !a.RowNormalised {
		return fmt.Errorf("%s is of a model for features as they are stored, but those of %s are divided by their sum "+
			"when it is loaded: give the features as an .npz file or a folder of your own", file, g.Name)
	}
	return a.fitsNodes(g, file)
}

// fitsNodes returns an error if the model cannot be used on the nodes of the graph g. Two kinds of models are checked.
// A model with a weight for each node needs a graph with as many nodes as the graph that it was trained on. A model
// that reads labels when it predicts needs the same graph that it was trained on.
func (a About) fitsNodes(g *graphs.Graph, file string) error {
	parameters, err := models.Parameters(a.Config.Config, a.Features, len(a.Classes))
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
	if !a.readsLabels() {
		return nil
	}
	if sum := models.Seen(a.Config.Config, g).Checksum(); sum != a.Checksum || a.Split >= len(g.Splits) {
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
