package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Case is a model of a given size and a graph, timed in training, as data/bench/cases.json lists them. Depths and
// widths are the paper's; on synthetic graphs, 1 forward and 16 reverse layers of width 64. Weights are bounded inside
// the model, as in the authors' code (`--normalise reparametrise`, see [bound]).
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

// decodeCases reads a list of cases; unknown names and impossible cases are errors.
func decodeCases(document []byte) (list []Case, err error) {
	const file = "data/bench/cases.json"
	if err := files.Strict(document, &list); err != nil {
		return nil, fmt.Errorf("%s is no list of cases: %w", file, err)
	}
	names := map[string]bool{}
	for i := range list {
		c := &list[i]
		if err := c.resolve(); err != nil {
			return nil, fmt.Errorf("%s, case %d, %q: %w", file, i+1, c.Name, err)
		}
		if names[c.Name] {
			return nil, fmt.Errorf("%s, case %d: another is called %q, too; names must differ", file, i+1, c.Name)
		}
		names[c.Name] = true
	}
	return list, nil
}

// resolve checks the case and sets its configuration.
func (c *Case) resolve() error {
	if c.Name == "" || strings.ContainsAny(c.Name, ", /") {
		return errors.New("its name must be a text without commas, spaces and slashes")
	}
	_, synthetic, err := parseSynthetic(c.Dataset)
	if err == nil && !synthetic {
		_, err = datasets.Info(c.Dataset)
	}
	if err != nil {
		return err
	}
	c.config = train.Default(c.Model)
	for _, key := range slices.Sorted(maps.Keys(c.Settings)) {
		name := models.SettingOf(key)
		model := slices.ContainsFunc(c.config.ModelSettings(), func(s models.Setting) bool { return s.Name == name })
		if !model && c.config.Value(name) != nil {
			return fmt.Errorf("a case has no setting %q: settings of the training are the same in all", key)
		}
		if err := c.config.Decode(key, c.Settings[key]); err != nil {
			return err
		}
	}
	c.config.Epochs = c.Steps
	switch a := c.Authors; {
	case c.Peer != "" && !slices.Contains(peers, c.Peer):
		return fmt.Errorf("its peer is %q: choose %s, or none", c.Peer, strings.Join(peers, " or "))
	case c.Steps < 2 || a != (Effort{}) && a.Steps < 2:
		return fmt.Errorf("it has %d steps, and %d of the authors: choose 2 at least, since the first is not counted",
			c.Steps, a.Steps)
	case a != (Effort{}) && a.Evaluations <= 0 || a.Messages < 0:
		return fmt.Errorf("it has %g evaluations and %g messages of the authors: choose a positive number, and zero or "+
			"more", a.Evaluations, a.Messages)
	}
	return c.config.Validate()
}

// bound is that of a layer's Frobenius norm: 0.999, or less for many reverse layers. A random d x d matrix of norm s
// has eigenvalues of up to s/√d, so that L reverse layers enlarge features by up to exp(L s/√d): the bound keeps this
// below e^8. Losses of 1e8 could not show whether two programs compute the same.
func bound(reverse, hidden int) float64 {
	most := 8 * math.Sqrt(float64(hidden)) / float64(max(1, reverse))
	return min(0.999, math.Round(1000*most)/1000)
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
