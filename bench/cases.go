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
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Case is a model of a given size, and a graph. The time to train the model on the graph is measured. The file
// data/bench/cases.json lists the cases: see [entry].
type Case struct {
	// Name is different for each case. An example is "gcn-chameleon-1-64-256", for GCN+ReP on Chameleon with 1 forward
	// and 64 reverse layers of width 256. [selected] also finds a case by the beginning of its name.
	Name string `json:"name"`
	// Dataset is the name of a public dataset. For a synthetic graph, it is the kind of the graph and the number of
	// nodes, such as "communities:100000" or "random:100000".
	Dataset string `json:"dataset"`
	// Config has the settings of the model and of its training. Config.Epochs is the number of training steps.
	Config train.Config `json:"config"`
	// Peer is the script that trains the same model in PyTorch. It is one of [peers], or empty if there is no such
	// script. Authors is for the run of the authors' code. It is zero if the authors' code does not have this model.
	Peer    string `json:"peer"`
	Authors Effort `json:"authors"`
	// An Extra case is not among the cases that run by default. A Quick case takes some seconds.
	Extra bool `json:"-"`
	Quick bool `json:"-"`
}

// Effort says how many steps the authors' code trains for in a case. Its other fields serve to estimate how much memory
// this code needs.
type Effort struct {
	// Steps is the number of training steps. It may be smaller than the number for the other programs, since a step of
	// the authors' code takes longer.
	Steps int `json:"steps"`
	// Evaluations is how often one training step evaluates a layer. The authors' code keeps the arrays of each
	// evaluation for the backward pass. A forward layer counts as one evaluation. A reverse layer counts as three
	// quarters of the largest number of iterations that a solve may take. For GRAND, each step of the Runge-Kutta
	// method counts as four.
	Evaluations float64 `json:"evaluations"`
	// Messages is the number of message vectors that one evaluation keeps for each entry of the adjacency matrix. A
	// message vector has as many numbers as the layer is wide. GAT keeps one for each attention head, and GRAND keeps
	// one. GCN keeps none, since it computes all messages by one product with a sparse matrix.
	Messages float64 `json:"messages"`
}

// entry is a case in the form of data/bench/cases.json. Depths and widths are those of the paper's experiments. On
// synthetic graphs, a case has 1 forward and 16 reverse layers of width 64. All programs must be able to train in the
// same way. So weights are bounded inside the model, as in the authors' code (`--normalise reparametrise`), and [bound]
// gives the bound. The settings of the training are those of [train.Default].
type entry struct {
	Name, Dataset, Model string
	// Settings has settings of the model, by their names in JSON. All other settings have the model's default values.
	Settings     map[string]json.RawMessage
	Steps        int
	Peer         string
	Authors      Effort
	Extra, Quick bool
}

// cases returns all cases of data/bench/cases.json.
var cases = sync.OnceValues(func() ([]Case, error) { return decodeCases(data.BenchCases()) })

// casesFile is the path of the file with the cases. Error messages contain it.
const casesFile = "data/bench/cases.json"

// decodeCases reads a list of [entry]. It returns an error if a field or a setting with an unknown name is in the list,
// or if a case cannot be run.
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

// read checks an entry, and returns its case with all settings.
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
		name := models.SettingOf(key)
		model := slices.ContainsFunc(c.Config.ModelSettings(), func(s models.Setting) bool { return s.Name == name })
		if !model && c.Config.Value(name) != nil {
			return c, fmt.Errorf("a case has no setting %q: settings of the training are the same in all", key)
		}
		if err := c.Config.Decode(key, e.Settings[key]); err != nil {
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

// bound returns the bound on the Frobenius norm of a layer's weight: 0.999, or less if there are many reverse layers.
// The reason is the random initial weights. A random d x d matrix with norm s has eigenvalues of size up to about
// s/sqrt(d). So one reverse layer may enlarge features by a factor of up to about exp(s/sqrt(d)), and L reverse layers
// by up to about exp(L s/sqrt(d)). The bound keeps this factor at or below about e^8. If the bound were always 0.999,
// the losses of 256 layers of width 64 would be some 1e8. Such losses could not show whether two programs compute the
// same.
func bound(reverse, hidden int) float64 {
	most := 8 * math.Sqrt(float64(hidden)) / float64(max(1, reverse))
	return min(0.999, math.Round(1000*most)/1000)
}

// selected returns those cases of the list all that names asks for, in the order of this list. names is a list of words
// with commas between them. A word is "default", "all", "quick", a case's name, or the part of a name before one of its
// dashes.
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

// named returns the case with the given name.
func named(all []Case, name string) (Case, error) {
	i := slices.IndexFunc(all, func(c Case) bool { return c.Name == name })
	if i < 0 {
		return Case{}, fmt.Errorf("no case is called %q: -list lists them", name)
	}
	return all[i], nil
}
