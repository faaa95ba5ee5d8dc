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

// Profile holds the settings of all the paper's tables and figures. It is data: see data/settings, and schema.json
// there.
type Profile struct {
	experiment.Profile
	// Schema names the schema of the file.
	Schema string `json:"$schema"`
	// Complexity are the benchmarks of table 1.
	Complexity Complexity `json:"complexity"`
	// Inversions are those of table 4 and figure 5. Hidden is the models' width; the paper gives their other settings.
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
	// Graph is the random graph. Idle is one so small that its run's memory is the programme's own.
	Graph Random `json:"graph"`
	Idle  Random `json:"idle"`
	// Quantities are those that the paper gives exponents for, in its order.
	Quantities []Quantity `json:"quantities"`
	Note       string     `json:"note"`
}

// Random is the size of a random graph.
type Random struct {
	Nodes int `json:"nodes"`
	Edges int `json:"edges"`
}

// Quantity is a setting of the model, or the number of edges where Setting is empty, that takes each of Values in
// turn. Settings are other settings that this needs.
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
	// Layers are shown on the part Shown of the board, and predictions on the parts Predictions.
	Layers      []int             `json:"layers"`
	Shown       experiment.Part   `json:"shown"`
	Predictions []experiment.Part `json:"predictions"`
}

// Depth are trainings at growing depth in one direction, with one layer in the other.
type Depth struct {
	Curves []DepthCurve `json:"curves"`
	Note   string       `json:"note"`
}

// DepthCurve is a model on splits of a dataset, at several numbers of layers, each with the settings that it changes.
type DepthCurve struct {
	Dataset string           `json:"dataset"`
	Splits  []int            `json:"splits"`
	Model   experiment.Model `json:"model"`
	Depths  []struct {
		Layers   int                 `json:"layers"`
		Settings experiment.Settings `json:"settings,omitempty"`
	} `json:"depths"`
}

// Smoothness are trainings whose states are followed layer by layer: the paper's models, and remedies for
// over-smoothing that the paper names.
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

// RunTimeCurve is a model on a dataset.
type RunTimeCurve struct {
	Dataset string           `json:"dataset"`
	Model   experiment.Model `json:"model"`
}

// Quick is the profile for a laptop: narrow layers, fewer and shallower ones where depth is not the point, few
// epochs, three splits. It shows where differences lie, and is not a reproduction of the published numbers.
func Quick() Profile { return embedded("quick") }

// Paper is the profile of the published depths and widths, ten splits, at most 1000 epochs with patience 100. The
// paper gives depths in tables 2 and 6. For the width it gives only a range that was searched, 128 to 2048; here it is
// 256, the default of the authors' code. On two cores it takes weeks; it is meant for GPUs and for several machines.
func Paper() Profile { return embedded("paper") }

func embedded(name string) Profile {
	p, err := ParseProfile(name)
	if err != nil {
		panic(err) // part of the programme
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

// readProfile reads a profile, and refuses unknown fields.
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

// at is the configuration of the i-th depth, without its numbers of layers.
func (c DepthCurve) at(i int) (train.Config, error) {
	out, err := c.Depths[i].Settings.With(c.Model.Config)
	if err != nil {
		return out, err
	}
	return out, out.Validate()
}
