package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/train"
)

// Case is a model of a given size and a graph, timed in training; data/bench/cases.json lists the cases ([entry]).
type Case struct {
	// Name is unique, such as "gcn-chameleon-1-64-256" for 1 forward and 64 reverse layers of width 256; beginnings of
	// names choose cases.
	Name string `json:"name"`
	// Dataset is public, or synthetic, such as "communities:100000" nodes.
	Dataset string       `json:"dataset"`
	Config  train.Config `json:"config"`
	// Peer is the script with the same model in PyTorch, one of [peers], or "". Authors is zero if the authors' code
	// lacks the model.
	Peer    string `json:"peer"`
	Authors Effort `json:"authors"`
	// An Extra case is not among the cases that run by default. A Quick case takes some seconds.
	Extra bool `json:"-"`
	Quick bool `json:"-"`
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

// entry is a case in the file. Depths and widths are the paper's; on synthetic graphs, 1 forward and 16 reverse layers
// of width 64. Weights are bounded inside the model, as in the authors' code (`--normalise reparametrise`, see
// [bound]), and trainings have the settings of [train.Default].
type entry struct {
	Name, Dataset, Model string
	Settings             map[string]json.RawMessage
	Steps                int
	Peer                 string
	Authors              Effort
	Extra, Quick         bool
}

// cases returns all cases of data/bench/cases.json.
var cases = sync.OnceValues(func() ([]Case, error) { return decodeCases(data.BenchCases()) })

const casesFile = "data/bench/cases.json"

// decodeCases reads a list of [entry]; unknown names and impossible cases are errors.
func decodeCases(document []byte) ([]Case, error) {
	var entries []entry
	d := json.NewDecoder(bytes.NewReader(document))
	d.DisallowUnknownFields()
	if err := d.Decode(&entries); err != nil {
		return nil, fmt.Errorf("%s is no list of cases: %w", casesFile, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s has something behind the list of cases: remove it", casesFile)
	}
	var list []Case
	names := map[string]bool{}
	for i, e := range entries {
		c, err := e.read()
		if err != nil {
			return nil, fmt.Errorf("%s, case %d, %q: %w", casesFile, i+1, e.Name, err)
		}
		if names[e.Name] {
			return nil, fmt.Errorf("%s, case %d: another is called %q, too; names must differ", casesFile, i+1, e.Name)
		}
		names[e.Name] = true
		list = append(list, c)
	}
	return list, nil
}

func (e entry) read() (Case, error) {
	c := Case{Name: e.Name, Dataset: e.Dataset, Config: train.Default(e.Model), Peer: e.Peer, Authors: e.Authors,
		Extra: e.Extra, Quick: e.Quick}
	if e.Name == "" || strings.ContainsAny(e.Name, ", /") {
		return c, errors.New("its name must be a text without commas, spaces and slashes")
	}
	if _, synthetic, err := parseSynthetic(e.Dataset); err != nil {
		return c, err
	} else if !synthetic {
		if _, err := datasets.Info(e.Dataset); err != nil {
			return c, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(e.Settings)) {
		// Only settings of the model are allowed. The settings of the training are the same in all cases.
		if err := c.Config.Config.Decode(key, e.Settings[key]); err != nil {
			return c, err
		}
	}
	c.Config.Epochs = e.Steps
	if e.Peer != "" && !slices.Contains(peers, e.Peer) {
		return c, fmt.Errorf("its peer is %q: choose %s, or none", e.Peer, strings.Join(peers, " or "))
	}
	if e.Steps < 2 || e.Authors != (Effort{}) && e.Authors.Steps < 2 {
		return c, fmt.Errorf("it has %d steps, and %d of the authors: "+
			"choose 2 at least, since the first is not counted", e.Steps, e.Authors.Steps)
	}
	if e.Authors != (Effort{}) && e.Authors.Evaluations <= 0 || e.Authors.Messages < 0 {
		return c, fmt.Errorf("it has %g evaluations and %g messages of the authors: choose a positive number, "+
			"and zero or more",
			e.Authors.Evaluations, e.Authors.Messages)
	}
	return c, c.Config.Validate()
}

// bound is that of a layer's Frobenius norm: 0.999, or less for many reverse layers. A random d x d matrix of norm s
// has eigenvalues of up to s/√d, so that L reverse layers enlarge features by up to exp(L s/√d): the bound keeps this
// below e^8. Losses of 1e8 could not show whether two programs compute the same.
func bound(reverse, hidden int) float64 {
	most := 8 * math.Sqrt(float64(hidden)) / float64(max(1, reverse))
	return min(0.999, math.Round(1000*most)/1000)
}

// selected are the cases that words between commas name: default, all, quick, a name, or its part before a dash.
func selected(all []Case, names string) ([]Case, error) {
	chosen := make([]bool, len(all))
	for name := range strings.SplitSeq(names, ",") {
		found := false
		for i, c := range all {
			if name == "all" || name == "default" && !c.Extra || name == "quick" && c.Quick ||
				strings.HasPrefix(c.Name+"-", name+"-") {
				chosen[i], found = true, true
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
	var out []Case
	for i, c := range all {
		if chosen[i] {
			out = append(out, c)
		}
	}
	return out, nil
}

func named(all []Case, name string) (Case, error) {
	i := slices.IndexFunc(all, func(c Case) bool { return c.Name == name })
	if i < 0 {
		return Case{}, fmt.Errorf("no case is called %q: -list lists them", name)
	}
	return all[i], nil
}
