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

// Profile has the settings of the runs for all tables and figures. It is read from a file in the folder data/settings.
// The file schema.json in the same folder describes the format.
type Profile struct {
	experiment.Profile
	// Schema is the name of the file with the JSON schema.
	Schema string `json:"$schema"`
	// Complexity describes the benchmarks of table 1.
	Complexity Complexity `json:"complexity"`
	// Inversions has the settings of table 4 and figure 5. Hidden is the width of the models. The paper states all
	// other settings.
	Inversions struct {
		Hidden int `json:"hidden"`
	} `json:"inversions"`
	// Boards describes the trainings of figures 1 and 4.
	Boards Boards `json:"boards"`
	// Depth describes the trainings of figure 2, Smoothness those of figure 3, and RunTime the benchmarks of figure 6.
	Depth      Depth      `json:"depth"`
	Smoothness Smoothness `json:"smoothness"`
	RunTime    RunTime    `json:"run_time"`
	// Reversing describes the trainings for the table that shows what reverse layers add to forward layers.
	Reversing Reversing `json:"reversing"`
}

// Complexity describes benchmarks of a model on random graphs. The benchmarks show how time and memory depend on
// quantities such as the number of layers. Only one quantity is varied at a time.
type Complexity struct {
	Model experiment.Model `json:"model"`
	// Graph is the size of the random graph. Idle is the size of a tiny graph, which shows how much memory the program
	// itself takes.
	Graph Random `json:"graph"`
	Idle  Random `json:"idle"`
	// Quantities are the quantities in the formulas of the paper's table 1, in the order of [Complexities].Exponents.
	Quantities []Quantity `json:"quantities"`
	Note       string     `json:"note"`
}

// Random is the size of a random graph.
type Random struct {
	Nodes int `json:"nodes"`
	Edges int `json:"edges"`
}

// Quantity describes benchmarks that differ in one quantity. The field Quantity is its name, such as L_F. The quantity
// takes each of Values in turn. It is the model's setting with the name Setting, or the number of edges if Setting is
// empty. Settings has other settings of the model for these benchmarks.
type Quantity struct {
	Quantity string              `json:"quantity"`
	Setting  string              `json:"setting,omitempty"`
	Values   []int               `json:"values"`
	Settings experiment.Settings `json:"settings,omitempty"`
}

// Boards describes two trainings on a Minesweeper graph. Reverse is the model with a reverse process, and Plain is the
// model without one.
type Boards struct {
	Dataset string           `json:"dataset"`
	Split   int              `json:"split"`
	Reverse experiment.Model `json:"reverse"`
	Plain   experiment.Model `json:"plain"`
	// Figure 1 shows the predictions after each number of layers in Layers, on the part Shown of the board. Figure 4
	// shows the parts Predictions of the board.
	Layers      []int             `json:"layers"`
	Shown       experiment.Part   `json:"shown"`
	Predictions []experiment.Part `json:"predictions"`
}

// Depth describes the trainings of figure 2: models with more and more layers in one direction, and one layer in the
// other direction.
type Depth struct {
	Curves []DepthCurve `json:"curves"`
	Note   string       `json:"note"`
}

// DepthCurve describes the trainings of figure 2 on one dataset. Each entry of Depths stands for two models: one has
// the entry's number of layers as forward layers, the other as reverse layers. In both, the entry's Settings replace
// settings of Model.
type DepthCurve struct {
	Dataset string           `json:"dataset"`
	Splits  []int            `json:"splits"`
	Model   experiment.Model `json:"model"`
	Depths  []struct {
		Layers   int                 `json:"layers"`
		Settings experiment.Settings `json:"settings,omitempty"`
	} `json:"depths"`
}

// Smoothness describes the trainings of figure 3. Models are the paper's models. Remedies has models with a remedy for
// over-smoothing that the paper names. GSL is computed after each number of layers in Layers.
type Smoothness struct {
	Datasets []string           `json:"datasets"`
	Split    int                `json:"split"`
	Layers   []int              `json:"layers"`
	Models   []experiment.Model `json:"models"`
	Remedies []Remedy           `json:"remedies,omitempty"`
	Note     string             `json:"note"`
}

// Remedy is a remedy for over-smoothing, such as PairNorm. Models are models of several depths that use this remedy.
type Remedy struct {
	Name   string             `json:"name"`
	Models []experiment.Model `json:"models"`
}

// RunTime describes the benchmarks of figure 6. Each curve has one benchmark for each number of reverse layers in
// Reverse.
type RunTime struct {
	Reverse []int          `json:"reverse"`
	Curves  []RunTimeCurve `json:"curves"`
	Note    string         `json:"note"`
}

// RunTimeCurve is one curve of figure 6: a model on a dataset, with each number of reverse layers in RunTime.Reverse.
type RunTimeCurve struct {
	Dataset string           `json:"dataset"`
	Model   experiment.Model `json:"model"`
}

// Quick returns the profile for a laptop: narrow layers, few layers (except in figures about depth), and three splits
// for most models. Its runs can show which models are better than others, but they do not reproduce the published
// numbers.
func Quick() Profile { return embedded("quick") }

// Paper returns the profile with the published depths, ten splits, and at most 1000 epochs. The width is 256, the
// default of the authors' code, since the paper states only a range of widths (128 to 2048). On two processor cores all
// runs of this profile take weeks; it is meant for GPUs and for several machines.
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

// at returns the settings of the model for c.Depths[i]. The caller sets the numbers of forward and reverse layers.
func (c DepthCurve) at(i int) (train.Config, error) {
	out, err := c.Depths[i].Settings.With(c.Model.Config)
	if err != nil {
		return out, err
	}
	return out, out.Validate()
}
