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

// Profile has the settings of the runs for all tables and figures, from a file of data/settings; schema.json there
// describes the format.
type Profile struct {
	runs.Profile
	Schema string `json:"$schema"`
	// Complexity is of table 1.
	Complexity Complexity `json:"complexity"`
	// Inversions is of table 4 and figure 5; the paper states all but the width.
	Inversions struct {
		Hidden int `json:"hidden"`
	} `json:"inversions"`
	// Boards is of figures 1 and 4.
	Boards Boards `json:"boards"`
	// Figures 2, 3 and 6.
	Depth      Depth      `json:"depth"`
	Smoothness Smoothness `json:"smoothness"`
	RunTime    RunTime    `json:"run_time"`
	// Reversing is of the table on what reverse layers add.
	Reversing Reversing `json:"reversing"`
}

// Complexity describes benchmarks on random graphs, in which one quantity varies at a time, such as the number of
// layers.
type Complexity struct {
	Model runs.Model `json:"model"`
	// Graph is the random graph. The memory of a benchmark on Idle, a tiny one, is that of the program itself, and is
	// subtracted.
	Graph Random `json:"graph"`
	Idle  Random `json:"idle"`
	// Quantities are those of table 1's formulas, in the order of [Complexities].Exponents.
	Quantities []Quantity `json:"quantities"`
	Note       string     `json:"note"`
}

type Random struct {
	Nodes int `json:"nodes"`
	Edges int `json:"edges"`
}

// Quantity is the paper's symbol, such as L_F, the setting that has its Values (the number of edges if "") and other
// settings of these benchmarks.
type Quantity struct {
	Quantity string        `json:"quantity"`
	Setting  string        `json:"setting,omitempty"`
	Values   []int         `json:"values"`
	Settings runs.Settings `json:"settings,omitempty"`
}

// Boards describes trainings on a Minesweeper graph, with a reverse process and without.
type Boards struct {
	Dataset string     `json:"dataset"`
	Split   int        `json:"split"`
	Reverse runs.Model `json:"reverse"`
	Plain   runs.Model `json:"plain"`
	// Figure 1 maps the predictions after each of Layers on the part Shown, figure 4 those on the parts Predictions.
	Layers      []int       `json:"layers"`
	Shown       runs.Part   `json:"shown"`
	Predictions []runs.Part `json:"predictions"`
}

// Depth describes figure 2: the number of layers of one direction varies, the other direction has one layer.
type Depth struct {
	Curves []DepthCurve `json:"curves"`
	Note   string       `json:"note"`
}

// DepthCurve describes figure 2 on one dataset: for each entry of Depths a model with as many forward layers, and one
// with as many reverse layers; Settings replace those of Model.
type DepthCurve struct {
	Dataset string     `json:"dataset"`
	Splits  []int      `json:"splits"`
	Model   runs.Model `json:"model"`
	Depths  []struct {
		Layers   int           `json:"layers"`
		Settings runs.Settings `json:"settings,omitempty"`
	} `json:"depths"`
}

// Smoothness describes figure 3: GSL after each of Layers, of the paper's models and of others with remedies for
// over-smoothing.
type Smoothness struct {
	Datasets []string     `json:"datasets"`
	Split    int          `json:"split"`
	Layers   []int        `json:"layers"`
	Models   []runs.Model `json:"models"`
	Remedies []Remedy     `json:"remedies,omitempty"`
	Note     string       `json:"note"`
}

// Remedy is a remedy for over-smoothing, such as PairNorm, in models of several depths.
type Remedy struct {
	Name   string       `json:"name"`
	Models []runs.Model `json:"models"`
}

// RunTime describes figure 6: benchmarks of each curve with each number of reverse layers.
type RunTime struct {
	Reverse []int          `json:"reverse"`
	Curves  []RunTimeCurve `json:"curves"`
	Note    string         `json:"note"`
}

type RunTimeCurve struct {
	Dataset string     `json:"dataset"`
	Model   runs.Model `json:"model"`
}

// Quick is the profile for a laptop: narrow and mostly shallow models, three splits for most of them. It shows which
// models are better than others, and does not reproduce the published numbers.
func Quick() Profile { return embedded("quick") }

// Paper is the profile with the published depths, ten splits and up to 1000 epochs, width 256 (the authors' default;
// the paper states 128 to 2048). Its runs take weeks on two cores.
func Paper() Profile { return embedded("paper") }

func embedded(name string) Profile {
	p, err := ParseProfile(name)
	if err != nil {
		panic(err) // this cannot happen, since the file is embedded in the program
	}
	return p
}

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

// readProfile reads a profile from JSON. Unknown fields and impossible candidates are errors.
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
	return p, nil
}

// at returns the settings of c.Depths[i] but for the numbers of layers.
func (c DepthCurve) at(i int) (train.Config, error) {
	out, err := c.Depths[i].Settings.With(c.Model.Config)
	if err != nil {
		return out, err
	}
	return out, out.Validate()
}
