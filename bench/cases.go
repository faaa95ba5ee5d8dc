package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Case is a model of a given size and a graph, timed in training, as data/bench/cases.json lists them. Depths and
// widths are the paper's; on synthetic graphs, 1 forward and 16 reverse layers of width 64. Weights are bounded inside
// the model, as in the authors' code (`--normalise reparametrise`).
type Case struct {
	// Name is unique, such as "gcn-chameleon-1-64-256" for 1 forward and 64 reverse layers of width 256; beginnings of
	// names choose cases.
	Name string `json:"name"`
	// Dataset is public, or synthetic, such as "communities:100000" nodes.
	Dataset string `json:"dataset"`
	// Settings of the Model; others have its defaults, and trainings those of [train.Default].
	Model    string                     `json:"model"`
	Settings map[string]json.RawMessage `json:"settings"`
	Steps    int                        `json:"steps"`
	// Peer is the script with the same model in PyTorch, one of [peers], or "". Authors is zero if the authors' code
	// lacks the model.
	Peer    string `json:"peer"`
	Authors Effort `json:"authors"`
	// Extra cases do not run by default. Quick ones take some seconds.
	Extra bool `json:"extra"`
	Quick bool `json:"quick"`

	config train.Config // of all of this
}

// Effort says how many steps the authors' code trains for, and by what its memory is estimated.
type Effort struct {
	Steps int `json:"steps"`
	// Evaluations of a layer per step, all of which their backward pass keeps: one for a forward layer, three quarters
	// of the largest number of iterations for a reverse layer, four for a Runge-Kutta step of GRAND.
	Evaluations float64 `json:"evaluations"`
	// Messages are vectors of the layer's width that an evaluation keeps for each entry of the adjacency: one for each
	// head of GAT, one for GRAND, none for GCN, which multiplies sparse matrices.
	Messages float64 `json:"messages"`
}

var cases = sync.OnceValues(func() ([]Case, error) { return decodeCases(data.BenchCases()) })

// decodeCases reads a list of cases, and sets their configurations.
func decodeCases(document []byte) (list []Case, err error) {
	const file = "data/bench/cases.json"
	if err := files.Strict(document, &list); err != nil {
		return nil, fmt.Errorf("%s is no list of cases: %w", file, err)
	}
	for i := range list {
		c := &list[i]
		c.config = train.Default(c.Model)
		for _, key := range slices.Sorted(maps.Keys(c.Settings)) {
			name := models.SettingOf(key)
			model := slices.ContainsFunc(c.config.ModelSettings(), func(s models.Setting) bool { return s.Name == name })
			if !model && c.config.Value(name) != nil {
				err = cmp.Or(err, fmt.Errorf("a case has no setting %q: settings of the training are the same in all", key))
			}
			err = cmp.Or(err, c.config.Decode(key, c.Settings[key]))
		}
		c.config.Epochs = c.Steps
		if err = cmp.Or(err, c.config.Validate()); err != nil {
			return nil, fmt.Errorf("%s, case %d, %q: %w", file, i+1, c.Name, err)
		}
	}
	return list, nil
}

// selected are the cases that words between commas name: default, all, quick, a name, or its part before a dash.
func selected(all []Case, names string) (out []Case, err error) {
	chosen := map[string]bool{}
	for name := range strings.SplitSeq(names, ",") {
		found := false
		for _, c := range all {
			if name == "all" || name == "default" && !c.Extra || name == "quick" && c.Quick ||
				strings.HasPrefix(c.Name+"-", name+"-") {
				chosen[c.Name], found = true, true
			}
		}
		if !found {
			var known []string
			for _, c := range all {
				known = append(known, c.Name)
			}
			return nil, fmt.Errorf("no case begins with %q: choose default, all, quick, or beginnings of %s",
				name, strings.Join(known, ", "))
		}
	}
	for _, c := range all {
		if chosen[c.Name] {
			out = append(out, c)
		}
	}
	return out, nil
}
