package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/train"
)

// Profile has the settings of all the paper's tables and figures. It is read from a file in the folder data/settings.
// The file schema.json in the same folder describes the format.
type Profile struct {
	experiment.Profile
	// Schema is the name of the file with the JSON schema.
	Schema string `json:"$schema"`
	// Complexity has the settings of the benchmarks of table 1.
	Complexity Complexity `json:"complexity"`
	// Inversions has the settings of table 4 and figure 5. Hidden is the width of the models. The paper states all
	// other settings.
	Inversions struct {
		Hidden int `json:"hidden"`
	} `json:"inversions"`
	// Boards has the settings of the trainings of figures 1 and 4.
	Boards Boards `json:"boards"`
	// Depth has the settings of figure 2, Smoothness those of figure 3, and RunTime those of figure 6.
	Depth      Depth      `json:"depth"`
	Smoothness Smoothness `json:"smoothness"`
	RunTime    RunTime    `json:"run_time"`
	// Reversing has the settings of the table that shows what reverse layers add to forward layers.
	Reversing Reversing `json:"reversing"`
}

// Complexity describes benchmarks of a model on random graphs. They show how time and memory depend on quantities such
// as the number of layers. Only one quantity is varied at a time.
type Complexity struct {
	Model experiment.Model `json:"model"`
	// Graph is the size of the random graph. Idle is the size of a graph that is so small that almost all memory is
	// that of the program itself.
	Graph Random `json:"graph"`
	Idle  Random `json:"idle"`
	// Quantities are the quantities whose exponents the paper gives, in the paper's order.
	Quantities []Quantity `json:"quantities"`
	Note       string     `json:"note"`
}

// Random is the size of a random graph.
type Random struct {
	Nodes int `json:"nodes"`
	Edges int `json:"edges"`
}

// Quantity is a quantity that is varied: it takes each of Values in turn. It is the model's setting with the name
// Setting, or the number of edges if Setting is empty. Settings has further settings that the model needs for this.
type Quantity struct {
	Quantity string              `json:"quantity"`
	Setting  string              `json:"setting,omitempty"`
	Values   []int               `json:"values"`
	Settings experiment.Settings `json:"settings,omitempty"`
}

// Boards has two trainings on a Minesweeper graph: one of a model with a reverse process, and one of a model without.
type Boards struct {
	Dataset string           `json:"dataset"`
	Split   int              `json:"split"`
	Reverse experiment.Model `json:"reverse"`
	Plain   experiment.Model `json:"plain"`
	// Layers has the numbers of layers after which figure 1 shows the predictions, and Shown is the part of the board
	// that figure 1 shows. Predictions are the parts of the board that figure 4 shows.
	Layers      []int             `json:"layers"`
	Shown       experiment.Part   `json:"shown"`
	Predictions []experiment.Part `json:"predictions"`
}

// Depth has trainings for figure 2: models with more and more layers in one direction, and one layer in the other
// direction.
type Depth struct {
	Curves []DepthCurve `json:"curves"`
	Note   string       `json:"note"`
}

// DepthCurve describes the part of figure 2 for one dataset: a model on splits of the dataset, with several numbers of
// layers. Each number is used twice: as the number of forward layers, and as the number of reverse layers. Each number
// of layers may have settings that differ from those of the model.
type DepthCurve struct {
	Dataset string           `json:"dataset"`
	Splits  []int            `json:"splits"`
	Model   experiment.Model `json:"model"`
	Depths  []struct {
		Layers   int                 `json:"layers"`
		Settings experiment.Settings `json:"settings,omitempty"`
	} `json:"depths"`
}

// Smoothness has trainings for figure 3: of the paper's models, and of models with one of the remedies that the paper
// names against over-smoothing. GSL is computed after the numbers of layers in Layers.
type Smoothness struct {
	Datasets []string           `json:"datasets"`
	Split    int                `json:"split"`
	Layers   []int              `json:"layers"`
	Models   []experiment.Model `json:"models"`
	Remedies []Remedy           `json:"remedies,omitempty"`
	Note     string             `json:"note"`
}

// Remedy is a remedy for over-smoothing, such as PairNorm, with models of several depths that use this remedy.
type Remedy struct {
	Name   string             `json:"name"`
	Models []experiment.Model `json:"models"`
}

// RunTime has benchmarks for figure 6. Reverse has the numbers of reverse layers.
type RunTime struct {
	Reverse []int          `json:"reverse"`
	Curves  []RunTimeCurve `json:"curves"`
	Note    string         `json:"note"`
}

// RunTimeCurve is one curve of figure 6: benchmarks of a model on a dataset, one for each number of reverse layers in
// RunTime.Reverse.
type RunTimeCurve struct {
	Dataset string           `json:"dataset"`
	Model   experiment.Model `json:"model"`
}

// Quick returns the profile for a laptop: narrow layers, few layers (except in figures about depth), and three splits
// for most models. It can show which models are better than others, but it does not reproduce the published numbers.
func Quick() Profile { return embedded("quick") }

// Paper returns the profile with the published depths, ten splits, and at most 1000 epochs with patience 100. The paper
// states depths in tables 2 and 6. For the width it states only the range that was searched, 128 to 2048. Here the
// width is 256, the default of the authors' code. On two processor cores this profile takes weeks; it is meant for GPUs
// and for several machines.
func Paper() Profile { return embedded("paper") }

func embedded(name string) Profile {
	p, err := ParseProfile(name)
	if err != nil {
		panic(err) // this cannot happen, since the file is embedded in the program
	}
	return p
}

// ParseProfile returns the profile with the given name.
func ParseProfile(name string) (p Profile, err error) {
	names := data.SettingsNames()
	if !slices.Contains(names, name) {
		return p, fmt.Errorf("unknown profile %q: choose %s", name, strings.Join(names, " or "))
	}
	text, err := data.Settings(name)
	if err == nil {
		p, err = readProfile(text)
	}
	if err != nil {
		return p, fmt.Errorf("data/settings/%s.json is damaged (%w): rebuild from a clean checkout", name, err)
	}
	return p, nil
}

// readProfile reads a profile from JSON. Unknown fields and impossible settings are errors.
func readProfile(text []byte) (p Profile, err error) {
	if err := files.Strict(text, &p); err != nil {
		return p, err
	}
	for _, r := range p.Rules {
		if err := r.Check(); err != nil {
			return p, fmt.Errorf("candidates: %w", err)
		}
	}
	if err := p.Reversing.check(); err != nil {
		return p, fmt.Errorf("reversing: %w", err)
	}
	for _, q := range p.Complexity.Quantities {
		for _, value := range q.Values {
			if _, err := p.Complexity.task(q, value); err != nil {
				return p, fmt.Errorf("complexity, %s: %w", q.Quantity, err)
			}
		}
	}
	for _, c := range p.Depth.Curves {
		for i := range c.Depths {
			if _, err := c.at(i); err != nil {
				return p, fmt.Errorf("depth, %s: %w", c.Dataset, err)
			}
		}
	}
	return p, nil
}

// at returns the settings of the model at the curve's i-th number of layers. The numbers of layers themselves are set
// by the caller.
func (c DepthCurve) at(i int) (train.Config, error) {
	out, err := c.Depths[i].Settings.With(c.Model.Config)
	if err != nil {
		return out, err
	}
	return out, out.Validate()
}
