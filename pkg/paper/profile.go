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

// Profile holds the settings of all the paper's tables and figures. It is read from a file in data/settings;
// schema.json there describes the format.
type Profile struct {
	experiment.Profile
	// Schema names the JSON schema of the file.
	Schema string `json:"$schema"`
	// Complexity are the benchmarks of table 1.
	Complexity Complexity `json:"complexity"`
	// Inversions has the settings of table 4 and figure 5. Hidden is the models' width; the paper gives the other
	// settings.
	Inversions struct {
		Hidden int `json:"hidden"`
	} `json:"inversions"`
	// Boards are the trainings of figures 1 and 4.
	Boards Boards `json:"boards"`
	// Depth is for figure 2, Smoothness for figure 3 and RunTime for figure 6.
	Depth      Depth      `json:"depth"`
	Smoothness Smoothness `json:"smoothness"`
	RunTime    RunTime    `json:"run_time"`
	// Reversing is for the table of what running layers backwards adds.
	Reversing Reversing `json:"reversing"`
}

// Complexity are benchmarks of a model on random graphs, with one quantity varied at a time.
type Complexity struct {
	Model experiment.Model `json:"model"`
	// Graph is the size of the random graph. Idle is the size of a graph so small that a run on it takes no memory
	// beyond the programme's own.
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

// Quantity is something that takes each of Values in turn: the model's setting named Setting, or the number of edges if
// Setting is empty. Settings are further settings that the model needs for this.
type Quantity struct {
	Quantity string              `json:"quantity"`
	Setting  string              `json:"setting,omitempty"`
	Values   []int               `json:"values"`
	Settings experiment.Settings `json:"settings,omitempty"`
}

// Boards are two trainings on a board of mines: a model with a reverse process and one without.
type Boards struct {
	Dataset string           `json:"dataset"`
	Split   int              `json:"split"`
	Reverse experiment.Model `json:"reverse"`
	Plain   experiment.Model `json:"plain"`
	// Figure 1 shows the predictions after the layers in Layers, on the part Shown of the board. Figure 4 shows the
	// parts Predictions.
	Layers      []int             `json:"layers"`
	Shown       experiment.Part   `json:"shown"`
	Predictions []experiment.Part `json:"predictions"`
}

// Depth has trainings of models with more and more layers in one direction, and one layer in the other direction.
type Depth struct {
	Curves []DepthCurve `json:"curves"`
	Note   string       `json:"note"`
}

// DepthCurve is a model on splits of a dataset, with several numbers of layers. Each number of layers may have settings
// that differ from the model's.
type DepthCurve struct {
	Dataset string           `json:"dataset"`
	Splits  []int            `json:"splits"`
	Model   experiment.Model `json:"model"`
	Depths  []struct {
		Layers   int                 `json:"layers"`
		Settings experiment.Settings `json:"settings,omitempty"`
	} `json:"depths"`
}

// Smoothness has trainings for which GSL is computed after the layers in Layers: of the paper's models, and of models
// with remedies for over-smoothing that the paper names.
type Smoothness struct {
	Datasets []string           `json:"datasets"`
	Split    int                `json:"split"`
	Layers   []int              `json:"layers"`
	Models   []experiment.Model `json:"models"`
	Remedies []Remedy           `json:"remedies,omitempty"`
	Note     string             `json:"note"`
}

// Remedy is a remedy for over-smoothing, with models of several depths that use it.
type Remedy struct {
	Name   string             `json:"name"`
	Models []experiment.Model `json:"models"`
}

// RunTime are benchmarks at several numbers of reverse layers.
type RunTime struct {
	Reverse []int          `json:"reverse"`
	Curves  []RunTimeCurve `json:"curves"`
	Note    string         `json:"note"`
}

// RunTimeCurve is a model on a dataset. Its benchmarks have the numbers of reverse layers in RunTime.Reverse.
type RunTimeCurve struct {
	Dataset string           `json:"dataset"`
	Model   experiment.Model `json:"model"`
}

// Quick is the profile for a laptop: narrow layers, few layers (except where depth is what is studied), few epochs,
// three splits. It shows which models are better than others, and is not a reproduction of the published numbers.
func Quick() Profile { return embedded("quick") }

// Paper is the profile of the published depths and widths, ten splits, at most 1000 epochs with patience 100. The paper
// gives depths in tables 2 and 6. For the width it gives only the range that was searched, 128 to 2048. Here the width
// is 256, the default of the authors' code. On two cores this profile takes weeks; it is meant for GPUs and for several
// machines.
func Paper() Profile { return embedded("paper") }

func embedded(name string) Profile {
	p, err := ParseProfile(name)
	if err != nil {
		panic(err) // the file is part of the programme
	}
	return p
}

// ParseProfile returns a profile by its name.
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

// readProfile reads a profile. Unknown fields and impossible settings are errors.
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

// at returns the settings at the i-th depth. The caller sets the numbers of layers.
func (c DepthCurve) at(i int) (train.Config, error) {
	out, err := c.Depths[i].Settings.With(c.Model.Config)
	if err != nil {
		return out, err
	}
	return out, out.Validate()
}
