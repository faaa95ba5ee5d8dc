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

// Case is what is timed: a model of given size on a graph. The cases are data, in data/bench/cases.json: see [entry].
type Case struct {
	// Name begins with the model and the graph; [selected] takes its beginnings.
	Name string `json:"name"`
	// Dataset is a public dataset, or a synthetic graph as "communities:100000" or "random:100000".
	Dataset string `json:"dataset"`
	// Config of the model and its training: Epochs is the number of steps.
	Config train.Config `json:"config"`
	// Peer is the script that computes the same in PyTorch, one of [peers], or empty; Authors is how the authors' code
	// does, zero where it has no such model.
	Peer    string `json:"peer"`
	Authors Effort `json:"authors"`
	// Extra cases run only where they are named; Quick ones take some seconds each; of Limited ones the roofline is
	// measured beside the comparison.
	Extra   bool `json:"-"`
	Quick   bool `json:"-"`
	Limited bool `json:"-"`
}

// Effort is what a case asks of the authors' code.
type Effort struct {
	// Steps to take: at most the others' number, since each takes longer.
	Steps int `json:"steps"`
	// Evaluations of a layer in a training step, the arrays of all of which are kept for the backward pass. A forward
	// layer is one; the solve of a reverse layer is taken to need three quarters of the most iterations; a step of the
	// Runge-Kutta method is four.
	Evaluations float64 `json:"evaluations"`
	// Messages is how many vectors of the layer's width an evaluation keeps per entry of the adjacency matrix: one for
	// each head of an attention and one in a diffusion; none where messages are a sparse product.
	Messages float64 `json:"messages"`
}

// entry is a case as data/bench/cases.json has it. Depths and widths are those of the paper's experiments; on
// synthetic graphs 1 and 16 layers of width 64. All programs can train alike: weights are bounded by
// reparametrisation, as the authors do, to [bound]; the training itself is [train.Default]'s.
type entry struct {
	Name, Dataset, Model string
	// Settings of the model by their names in JSON; others have the model's defaults.
	Settings              map[string]json.RawMessage
	Steps                 int
	Peer                  string
	Authors               Effort
	Extra, Quick, Limited bool
}

// cases lists all.
var cases = sync.OnceValues(func() ([]Case, error) { return decodeCases(data.BenchCases()) })

// casesFile is where cases are, for errors.
const casesFile = "data/bench/cases.json"

// decodeCases reads a list of [entry]; a name that nothing has, or a case that cannot run, is an error.
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

// read checks a case and fills in its configuration.
func (e entry) read() (Case, error) {
	c := Case{Name: e.Name, Dataset: e.Dataset, Config: train.Default(e.Model), Peer: e.Peer, Authors: e.Authors,
		Extra: e.Extra, Quick: e.Quick, Limited: e.Limited}
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
		// Of the model alone: the training is the same in all cases.
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

// bound is the Frobenius norm of the weight: 0.999, but less in deep chains of random weights. A random d x d matrix
// of norm s has eigenvalues up to about s/sqrt(d), so that L reverse layers grow features by up to exp(L s/sqrt(d)),
// which is kept below e^8: at 0.999, the losses of 256 layers of width 64 are some 1e8 and tell nothing about
// agreement.
func bound(reverse, hidden int) float64 {
	most := 8 * math.Sqrt(float64(hidden)) / float64(max(1, reverse))
	return min(0.999, math.Round(1000*most)/1000)
}

// selected are those of all cases that names ask for, in their order: "default", "all", "quick", or beginnings of
// names up to a dash, with commas between.
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

// named is the case of a name.
func named(all []Case, name string) (Case, error) {
	i := slices.IndexFunc(all, func(c Case) bool { return c.Name == name })
	if i < 0 {
		return Case{}, fmt.Errorf("no case is called %q: -list lists them", name)
	}
	return all[i], nil
}
