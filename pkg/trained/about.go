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
	// ([datasets.RowNormalise]).
	Features      int      `json:"features"`
	FeatureNames  []string `json:"feature_names,omitempty"`
	RowNormalised bool     `json:"row_normalised"`
	// Classes are in the order of the model's outputs.
	Classes []string `json:"classes"`
	// The graph that the model was trained on; its checksum is that of the graph as the model sees it ([models.Seen]).
	Dataset  string `json:"dataset"`
	Nodes    int    `json:"nodes"`
	Checksum string `json:"checksum"`
	Split    int    `json:"split"`
	Seed     uint64 `json:"seed"`
	// The file has the parameters after the best epoch; the metrics are with these.
	BestEpoch int               `json:"best_epoch"`
	Metric    string            `json:"metric"`
	Val       train.Number      `json:"val"`
	Test      train.Number      `json:"test"`
	Engine    string            `json:"engine"`
	Versions  map[string]string `json:"versions"`
}

// Describe returns the description of a model that was trained on g, with the configuration c, on the named engine.
func Describe(g *graphs.Graph, c train.Config, engine string, r *train.Result) About {
	return About{Format: format, Config: c.Resolved(), Features: g.NumFeatures, FeatureNames: g.FeatureNames,
		RowNormalised: g.RowNormalised, Classes: g.Classes(), Dataset: g.Name, Nodes: g.NumNodes,
		Checksum: models.Seen(c.Config, g).Checksum(), Split: r.Split, Seed: r.Seed, BestEpoch: r.BestEpoch,
		Metric: train.Metric(g), Val: r.Val, Test: r.Test, Engine: engine, Versions: machine.Versions()}
}

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

// fits returns an error if the model cannot be used on g.
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

// fitsNodes checks two kinds of models: one with a weight for each node needs as many nodes as in training, and one
// that reads labels when it predicts needs the same graph.
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
