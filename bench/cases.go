package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/pkg/train"
)

// Case is what is timed: a model of given size on a graph.
type Case struct {
	Name string `json:"name"`
	// Dataset is a public dataset, or a synthetic graph as "communities:100000" or "random:100000".
	Dataset string `json:"dataset"`
	// Config of the model and its training: Epochs is the number of steps.
	Config train.Config `json:"config"`
	// AuthorsSteps is the number of steps of the authors' code, which takes longer.
	AuthorsSteps int `json:"authors_steps"`
	// Extra cases run only where they are named.
	Extra bool `json:"-"`
}

// cases lists all. Depths and widths are those of the paper's experiments; on synthetic graphs 1 and 16 layers of width 64.
func cases() []Case {
	var list []Case
	add := func(steps int, extra bool, dataset string, c train.Config) {
		c.Epochs = steps
		list = append(list, Case{Name: caseName(dataset, c), Dataset: dataset, Config: c, AuthorsSteps: min(steps, 3), Extra: extra})
	}
	gcn := func(steps int, extra bool, dataset string, forward, reverse, hidden int) {
		add(steps, extra, dataset, config("gcn+rep", forward, reverse, hidden))
	}
	gcn(10, false, "chameleon-filtered", 1, 64, 256)
	gcn(10, false, "minesweeper", 1, 64, 64)
	gcn(5, false, "minesweeper", 1, 256, 64)
	gcn(8, false, "squirrel-filtered", 1, 32, 256)
	gcn(6, false, "squirrel-filtered", 32, 32, 256)
	gcn(8, false, "tolokers", 1, 8, 128)
	for _, kind := range kinds {
		gcn(8, false, kind+":10000", 1, 16, 64)
		gcn(3, kind == random, kind+":100000", 1, 16, 64)
		gcn(2, true, kind+":1000000", 1, 16, 64)
	}
	gat := func(steps int, extra bool, dataset string, forward, reverse, hidden, heads int) {
		c := config("gat+rep", forward, reverse, hidden)
		c.Heads = heads
		add(steps, extra, dataset, c)
	}
	gat(8, false, "chameleon-filtered", 8, 8, 64, 2)
	gat(5, false, "minesweeper", 8, 8, 64, 1)
	gat(5, true, "squirrel-filtered", 8, 8, 64, 2)
	gat(3, true, "tolokers", 1, 8, 64, 1)
	grand := func(steps int, extra bool, dataset string, hidden int) {
		c := config("grand+rep", 0, 0, hidden)
		c.Time, c.ReverseTime, c.Solver, c.Step = 3, 1, "rk4", 0.5
		add(steps, extra, dataset, c)
	}
	grand(8, false, "chameleon-filtered", 64)
	grand(8, false, "minesweeper", 64)
	grand(5, true, "squirrel-filtered", 64)
	grand(5, true, "tolokers", 64)
	return list
}

// config is a training that all implementations can do alike: weights are bounded by reparametrisation, as the authors do.
func config(model string, forward, reverse, hidden int) train.Config {
	c := train.Default(model)
	c.Forward, c.Reverse, c.Hidden = forward, reverse, hidden
	c.Normalise, c.MaxIterations, c.Tolerance = "reparametrise", 8, 1e-5
	c.Lipschitz = bound(reverse, hidden)
	return c
}

// bound is the Frobenius norm of the weight: 0.999, but less in deep chains of random weights. A random d x d matrix of norm s
// has eigenvalues up to about s/sqrt(d), so that L reverse layers grow features by up to exp(L s/sqrt(d)), which is kept
// below e^8: at 0.999, the losses of 256 layers of width 64 are some 1e8 and tell nothing about agreement.
func bound(reverse, hidden int) float64 {
	most := 8 * math.Sqrt(float64(hidden)) / float64(max(1, reverse))
	return min(0.999, math.Round(1000*most)/1000)
}

// caseName is unique among cases: gcn-minesweeper-1-64-64 has 1 forward and 64 reverse layers of width 64.
func caseName(dataset string, c train.Config) string {
	dataset = strings.ReplaceAll(strings.TrimSuffix(dataset, "-filtered"), ":", "")
	name := strings.TrimSuffix(c.Model, "+rep") + "-" + dataset
	if c.Solver == "" {
		name += fmt.Sprintf("-%d-%d", c.Forward, c.Reverse)
	}
	return name + "-" + strconv.Itoa(c.Hidden)
}

// selected are the cases that names ask for, in their order here: "default", "all", "quick", or beginnings of names up
// to a dash, with commas between.
func selected(names string) ([]Case, error) {
	all := cases()
	chosen := make([]bool, len(all))
	for name := range strings.SplitSeq(names, ",") {
		found := false
		for i, c := range all {
			if name == "all" || name == "default" && !c.Extra || name == "quick" && slices.Contains(quick, c.Name) ||
				strings.HasPrefix(c.Name+"-", name+"-") {
				chosen[i], found = true, true
			}
		}
		if !found {
			var known []string
			for _, c := range all {
				known = append(known, c.Name)
			}
			return nil, fmt.Errorf("no case begins with %q: choose default, all, quick, or beginnings of %s", name, strings.Join(known, ", "))
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

// quick cases take some seconds each.
var quick = []string{"gcn-chameleon-1-64-256", "gcn-minesweeper-1-64-64", "gcn-communities10000-1-16-64"}
