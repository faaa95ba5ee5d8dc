package trained

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// threeClasses returns a board whose nodes are of three named classes.
func threeClasses(t *testing.T) *graphs.Graph {
	t.Helper()
	g := *modeltest.Board(t, 8)
	g.Labels, g.NumClasses, g.ClassNames = slices.Clone(g.Labels), 3, []string{"ant", "bee", "cat"}
	for i := range g.Labels {
		g.Labels[i] = int32(i % 3)
	}
	return &g
}

// TestEvaluateAgreesWithTraining: on the graph of the training, a model has the measures that the training had, and on
// the same graph with its classes in another order, too.
func TestEvaluateAgreesWithTraining(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	for name, g := range map[string]*graphs.Graph{"two": modeltest.Board(t, 8), "three": threeClasses(t)} {
		c, r := fitted(t, g, "gcn+rep", 8)
		m := kept(t, g, c, r)
		all, err := m.Evaluate(e, g, "all", -1)
		if err != nil || len(all) != 4 {
			t.Fatalf("%s: %+v, %v", name, all, err)
		}
		same := func(what string, got, want map[string]float64) {
			t.Helper()
			for measure, w := range want {
				if v := got[measure]; math.Abs(v-w) > 1e-6 || math.IsNaN(v) != math.IsNaN(w) {
					t.Errorf("%s, %s: %s is %v, was %v", name, what, measure, v, w)
				}
			}
			if len(want) != 6 || len(got) != 6 {
				t.Errorf("%s, %s: %v, was %v", name, what, got, want)
			}
		}
		val, test := all[1], all[2]
		same(val.Part, plain(val.Measures), plain(r.Measures.Val))
		same(test.Part, plain(test.Measures), plain(r.Measures.Test))
		if test.Training != 0 || all[0].Training != all[0].Nodes || all[3].Training != all[0].Nodes ||
			all[3].Nodes != g.NumNodes || all[3].Split != -1 || test.Split != 0 {
			t.Errorf("%s: %+v", name, all)
		}
		usual, err := m.Evaluate(e, g, "", -1)
		if err != nil || len(usual) != 1 || fmt.Sprint(usual[0]) != fmt.Sprint(test) {
			t.Errorf("%s: by default %+v, %v", name, usual, err)
		}

		turned := *g
		turned.ClassNames, turned.Labels = slices.Clone(g.Classes()), slices.Clone(g.Labels)
		slices.Reverse(turned.ClassNames)
		for i, l := range g.Labels {
			turned.Labels[i] = int32(g.NumClasses) - 1 - l
		}
		other, err := m.Evaluate(e, &turned, "", -1)
		if err != nil || len(other) != 1 || other[0].Part != "labelled" || other[0].Training != 0 {
			t.Fatalf("%s: %+v, %v", name, other, err)
		}
		same("turned", plain(other[0].Measures), plain(all[3].Measures))
		if fmt.Sprint(other[0].Confusion, other[0].ByClass) != fmt.Sprint(all[3].Confusion, all[3].ByClass) {
			t.Errorf("%s: %+v, was %+v", name, other[0], all[3])
		}
	}
}

func plain[T ~float64](values map[string]T) map[string]float64 {
	out := map[string]float64{}
	for name, v := range values {
		out[name] = float64(v)
	}
	return out
}

// TestEvaluateRefuses also checks that a class of the model without nodes only makes some measures undefined.
func TestEvaluateRefuses(t *testing.T) {
	e, g := enginetest.Open(t, engine.Go), threeClasses(t)
	c, r := fitted(t, g, "gcn", 2)
	m := kept(t, g, c, r)
	few := *g
	few.Labels = slices.Clone(g.Labels)
	for i, l := range few.Labels {
		if l == 2 {
			few.Labels[i] = graphs.Unlabelled
		}
	}
	x, err := m.Evaluate(e, &few, "labelled", -1)
	if err != nil || x[0].ByClass[2] != 0 || len(x[0].Undefined) != 2 ||
		x[0].Undefined[0] != "ROC-AUC on labelled nodes is undefined: none is of class cat" ||
		math.IsNaN(float64(x[0].Measures["macro_f1"])) {
		t.Errorf("%+v, %v", x, err)
	}
	other := *g
	other.ClassNames = []string{"ant", "bee", "dog"}
	none := *g
	none.Labels = slices.Repeat([]int32{graphs.Unlabelled}, g.NumNodes)
	empty := *g
	empty.Splits = []graphs.Split{{Train: g.Splits[0].Train, Val: g.Splits[0].Val, Test: make([]bool, g.NumNodes)}}
	for _, c := range []struct {
		g     *graphs.Graph
		part  string
		split int
		want  string
	}{
		{&other, "labelled", -1, "is of class dog, which"},
		{&other, "test", 0, "its classes are ant, bee, cat"},
		{&none, "", -1, "has no labels"},
		{&few, "train", 0, "has no label; give it one"},
		{&empty, "test", 0, "has no nodes for the part test"},
		{g, "test", 99, "has no split 99"},
		{g, "first", 0, `no part "first"`},
	} {
		if _, err := m.Evaluate(e, c.g, c.part, c.split); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.part, err, c.want)
		}
	}
}
