package roofline

import (
	"math"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestCounts compares the formulas in the package's documentation with numbers computed by hand, for a graph of 2
// nodes, 5 features and 7 outputs, an Â of 3 entries, and width 11.
func TestCounts(t *testing.T) {
	s := Shape{Nodes: 2, Entries: 3, Features: 5, Outputs: 7, Hidden: 11, Forward: 2, Reverse: 10,
		Solve: 1.5, Adjoint: 2}
	want := map[string][3]float64{
		"X W":     {2 * 2 * 121, 4 * (44 + 121), 8 + 45},
		"Â X":     {66, 3*52 + 88, 8 + 45},
		"Xᵀ G":    {2 * 2 * 121, 4 * (44 + 121), 12},
		"iterate": {132, 16 * 22, 15},
		"correct": {154, 24 * 22, 20},
		"layer":   {176, 20 * 22, 40},
		"encoder": {4 * 110, 4 * (20 + 44 + 220), 1},
		"head":    {12 * 154, 4 * (176 + 56), 1},
		"Adam":    {12 * 359, 28 * 359, 1}, // There are 6*11 + 121 + 11 + 23*7 parameters.
	}
	for _, k := range counts(s) {
		if got := [3]float64{k.Operations, k.Bytes, k.Times}; got != want[k.Name] {
			t.Errorf("%s: %v, want %v", k.Name, got, want[k.Name])
		}
		delete(want, k.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	s.Kept, s.FeatureEntries = true, 4
	for _, k := range counts(s) {
		switch {
		case k.Name == "X W" && k.Times != 8+35:
			t.Errorf("with kept preactivations: %v", k)
		case k.Name == "encoder" && (k.Operations != 4*4*11 || k.Bytes != 4*(88+16)+4*(44+220)):
			t.Errorf("with sparse features: %v", k)
		}
	}
	k := Kernel{Operations: 100, Bytes: 30}
	if k.bound(Rates{Large: 10, Own: 20, Near: 3}); k.Least != 10 {
		t.Errorf("the least time is %g", k.Least)
	}
	if k.bound(Rates{Large: 10, Own: 5, Near: 30}); k.Least != 10 {
		t.Errorf("the least time is %g", k.Least)
	}
}

// TestRepetitionsCount checks that a repetition with more work takes more time.
func TestRepetitionsCount(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	at := func(n int) float64 {
		s, err := perRepetition(e, product(n, n))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if small, large := at(32), at(256); !(small > 0) || large < 5*small {
		t.Errorf("a product of 32 x 32 takes %.2g s, one of 256 x 256 %.2g s", small, large)
	}
}

func TestAnalyse(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	g, err := datasets.Load(t.Context(), "minesweeper-generated:rows=20,cols=20", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := train.Default("gcn+rep")
	c.Forward, c.Reverse, c.Hidden, c.Epochs = 1, 4, 16, 2
	a, err := Analyse(t.Context(), e, g, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, k := range a.Kernels {
		if !(k.Seconds > 0) || !(k.Least > 0) || math.IsNaN(k.Fraction) {
			t.Errorf("%s: %g s, at least %g s", k.Name, k.Seconds, k.Least)
		}
		sum += k.Times * k.Seconds
	}
	if len(a.Kernels) != 9 || a.Accounted != sum || a.Stored < a.Entries || a.Outputs != 1 || !(a.Fraction > 0) {
		t.Errorf("got %+v", a)
	}
	if _, err := Analyse(t.Context(), e, g, train.Default("gat"), nil); err == nil ||
		!strings.Contains(err.Error(), "not of gat") {
		t.Errorf("got %v", err)
	}
}
