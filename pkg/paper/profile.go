package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Profile has the settings of the runs for all tables and figures. It is read from a file in the folder data/settings.
// The file schema.json in the same folder describes the format.
type Profile struct {
	runs.Profile
	// Schema is the name of the file with the JSON schema.
	Schema string `json:"$schema"`
	// Complexity describes the benchmarks of table 1.
	Complexity Complexity `json:"complexity"`
	// Inversions has the settings of the runs for table 4 and figure 5. Hidden is the width of the models. The paper
	// states all other settings, so that a profile need not have them.
	Inversions struct {
		Hidden int `json:"hidden"`
	} `json:"inversions"`
	// Boards describes the trainings for figures 1 and 4.
	Boards Boards `json:"boards"`
	// Depth describes the trainings for figure 2. Smoothness describes the trainings for figure 3. RunTime describes
	// the benchmarks for figure 6.
	Depth      Depth      `json:"depth"`
	Smoothness Smoothness `json:"smoothness"`
	RunTime    RunTime    `json:"run_time"`
	// Reversing describes the trainings for the table that shows what reverse layers add to forward layers.
	Reversing Reversing `json:"reversing"`
}

// Complexity describes benchmarks of a model on random graphs. The benchmarks show how time and memory depend on
// quantities such as the number of layers. Only one quantity is varied at a time.
type Complexity struct {
	Model runs.Model `json:"model"`
	// Graph is the size of the random graph. Idle is the size of a tiny graph. A benchmark on the tiny graph shows how
	// much memory the program itself takes. This memory is subtracted from that of the other benchmarks.
	Graph Random `json:"graph"`
	Idle  Random `json:"idle"`
	// Quantities are the quantities in the formulas of the paper's table 1. They are in the same order as in the field
	// Exponents of [Complexities], which has the published exponents.
	Quantities []Quantity `json:"quantities"`
	Note       string     `json:"note"`
}

// Random is the size of a random graph.
type Random struct {
	Nodes int `json:"nodes"`
	Edges int `json:"edges"`
}

// Quantity describes benchmarks that differ in only one quantity, such as the number of forward layers. The field
// Quantity is the paper's symbol for this quantity, such as L_F. There is one benchmark for each number in Values.
// Setting is the name of the model's setting that has this number. If Setting is empty, the number is the graph's
// number of edges. In all these benchmarks, Settings replace other settings of the model.
type Quantity struct {
	Quantity string        `json:"quantity"`
	Setting  string        `json:"setting,omitempty"`
	Values   []int         `json:"values"`
	Settings runs.Settings `json:"settings,omitempty"`
}

// Boards describes two trainings on a Minesweeper graph. Reverse is the model with a reverse process, and Plain is the
// model without one.
type Boards struct {
	Dataset string     `json:"dataset"`
	Split   int        `json:"split"`
	Reverse runs.Model `json:"reverse"`
	Plain   runs.Model `json:"plain"`
	// Figure 1 shows the part of the board that Shown describes. For each number in Layers, it has a map of the
	// predictions after this number of layers. Figure 4 shows the predictions on other parts of the board. The field
	// Predictions lists these parts.
	Layers      []int       `json:"layers"`
	Shown       runs.Part   `json:"shown"`
	Predictions []runs.Part `json:"predictions"`
}

// Depth describes the trainings for figure 2, which shows how results depend on the number of layers. The number of
// layers is varied in one direction, forward or reverse. There is one layer in the other direction.
type Depth struct {
	Curves []DepthCurve `json:"curves"`
	Note   string       `json:"note"`
}

// DepthCurve describes the trainings for figure 2 on one dataset. Each entry of Depths describes two models. If the
// entry's field Layers is 64, the first model has 64 forward layers and 1 reverse layer. The second model has 1 forward
// layer and 64 reverse layers. Both have the settings of Model, except those that the entry's Settings replace.
type DepthCurve struct {
	Dataset string     `json:"dataset"`
	Splits  []int      `json:"splits"`
	Model   runs.Model `json:"model"`
	Depths  []struct {
		Layers   int           `json:"layers"`
		Settings runs.Settings `json:"settings,omitempty"`
	} `json:"depths"`
}

// Smoothness describes the trainings for figure 3, which shows GSL over the number of layers. Models are the models
// that the paper's figure shows. Remedies has models with other remedies for over-smoothing, for comparison. For each
// number in Layers, GSL is computed from the state after this number of layers.
type Smoothness struct {
	Datasets []string     `json:"datasets"`
	Split    int          `json:"split"`
	Layers   []int        `json:"layers"`
	Models   []runs.Model `json:"models"`
	Remedies []Remedy     `json:"remedies,omitempty"`
	Note     string       `json:"note"`
}

// Remedy is a remedy for over-smoothing, such as PairNorm. Models are models of several depths that use this remedy.
type Remedy struct {
	Name   string       `json:"name"`
	Models []runs.Model `json:"models"`
}

// RunTime describes the benchmarks for figure 6, which shows the time of an epoch over the number of reverse layers.
// Each curve has one benchmark for each number of reverse layers in the list Reverse.
type RunTime struct {
	Reverse []int          `json:"reverse"`
	Curves  []RunTimeCurve `json:"curves"`
	Note    string         `json:"note"`
}

// RunTimeCurve describes the benchmarks for one curve of figure 6. All have the same dataset and the same model, except
// for the number of reverse layers. The list RunTime.Reverse has these numbers.
type RunTimeCurve struct {
	Dataset string     `json:"dataset"`
	Model   runs.Model `json:"model"`
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
		return p, fmt.Errorf("data/settings/%s.json can't be used (%w): mend it, or take that of a clean checkout, and "+
			"build again", name, err)
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
	for _, c := range p.Chosen {
		if _, err := p.Candidates(c.Dataset, c.Model); err != nil {
			return p, err
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

// at returns the settings that the two models of the entry c.Depths[i] have in common. The numbers of forward and
// reverse layers are different in the two models; the caller sets these numbers.
func (c DepthCurve) at(i int) (train.Config, error) {
	out, err := c.Depths[i].Settings.With(c.Model.Config)
	if err != nil {
		return out, err
	}
	return out, out.Validate()
}
