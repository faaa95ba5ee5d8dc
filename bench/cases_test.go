package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/train"
)

// all returns all cases in data/bench/cases.json.
func all(t *testing.T) []Case {
	t.Helper()
	list, err := cases()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func named(t *testing.T, name string) Case {
	t.Helper()
	list := all(t)
	return list[slices.IndexFunc(list, func(c Case) bool { return c.Name == name })]
}

func TestCasesOfTheData(t *testing.T) {
	list := all(t)
	if len(list) != 38 {
		t.Errorf("there are %d cases, want 38", len(list))
	}
	names := map[string]bool{}
	for _, c := range list {
		if c.Name == "" || strings.ContainsAny(c.Name, ", /") || names[c.Name] {
			t.Errorf("%q is no name of its own without commas, spaces and slashes", c.Name)
		}
		names[c.Name] = true
		if _, synthetic, err := parseSynthetic(c.Dataset); err != nil {
			t.Error(c.Name, err)
		} else if _, err := datasets.Info(c.Dataset); !synthetic && err != nil {
			t.Error(c.Name, err)
		}
		if c.Peer != "" && c.Peer != byHand && c.Peer != pyg {
			t.Errorf("%s: the peer is %q", c.Name, c.Peer)
		}
		a := c.Authors
		if c.Steps < 2 || a != (Effort{}) && (a.Steps < 2 || a.Evaluations <= 0 || a.Messages < 0) {
			t.Errorf("%s: %d steps, and %+v of the authors; the first step is not counted", c.Name, c.Steps, a)
		}
		k := c.config
		if k.Value("lipschitz") != nil && k.Lipschitz != bound(k.Reverse, k.Hidden) {
			t.Errorf("%s: the bound is %g", c.Name, c.config.Lipschitz)
		}
	}
	if b := bound(64, 64); b != 0.999 {
		t.Errorf("64 layers of width 64 are bounded by %g", b)
	}
	if b := bound(256, 64); b != 0.25 {
		t.Errorf("256 layers of width 64 are bounded by %g", b)
	}
}

// bound is that of a layer's Frobenius norm: 0.999, or less for many reverse layers. A random d x d matrix of norm s
// has eigenvalues of up to s/√d, so that L reverse layers enlarge features by up to exp(L s/√d): the bound keeps this
// below e^8. Losses of 1e8 could not show whether two programs compute the same.
func bound(reverse, hidden int) float64 {
	most := 8 * math.Sqrt(float64(hidden)) / float64(max(1, reverse))
	return min(0.999, math.Round(1000*most)/1000)
}

const good = `{"name": "a", "dataset": "random:500", "model": "gcn+rep",
	"settings": {"forward": 1, "max_iterations": 4}, "steps": 2,
	"authors": {"steps": 2, "evaluations": 7, "messages": 0}, "peer": "peer.py"}`

func TestCasesAreDecodedStrictly(t *testing.T) {
	list, err := decodeCases([]byte("[" + good + "]"))
	if err != nil {
		t.Fatal(err)
	}
	want := train.Default("gcn+rep")
	want.Forward, want.MaxIterations, want.Epochs = 1, 4, 2
	if len(list) != 1 || list[0].config != want || list[0].Authors != (Effort{Steps: 2, Evaluations: 7}) {
		t.Errorf("got %+v, want %+v", list, want)
	}
	for _, c := range []struct{ replace, by, says string }{
		{`"peer"`, `"pear"`, `unknown field "pear"`},
		{`"messages"`, `"massages"`, `unknown field "massages"`},
		{`"forward"`, `"time"`, `has no setting "time"`},
		{`"forward"`, `"epochs"`, `has no setting "epochs"`},
		{`"forward": 1`, `"forward": "1"`, "it must be a whole number"},
		{`"forward": 1`, `"hidden": 0`, "hidden is 0"},
		{`"gcn+rep"`, `"gcm"`, `unknown model "gcm"`},
		{`py"}`, `py"}] [`, "more than one value"},
	} {
		_, err := decodeCases([]byte("[" + strings.Replace(good, c.replace, c.by, 1) + "]"))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s for %s: got %v, want %q", c.by, c.replace, err, c.says)
		}
	}
}

func TestSelection(t *testing.T) {
	list := all(t)
	for names, want := range map[string]int{"gcn-squirrel": 2, "gcn-squirrel,gcn-squirrel-1-32": 2,
		"gcn-communities100000": 1, "quick": 3, "default": 13, "all": len(list)} {
		got, err := selected(list, names)
		if err != nil || len(got) != want {
			t.Errorf("%q selects %d cases, want %d: %v", names, len(got), want, err)
		}
	}
	for _, names := range []string{"", "nothing", "quick,", "gcn-mine"} {
		if _, err := selected(list, names); err == nil {
			t.Errorf("%q was accepted", names)
		}
	}
}
