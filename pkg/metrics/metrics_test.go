package metrics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12 || math.IsNaN(got) != math.IsNaN(want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func mustFail(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
}

func TestHomophily(t *testing.T) {
	// The nodes of the path 0-1-2-3 have the labels 0 0 1 1. Two of the three edges join equal labels. The degrees add
	// up to 3 in each class. So the homophily by chance is (3/6)² + (3/6)² = 1/2.
	g, err := graphs.New("path", 4, []graphs.Edge{{0, 1}, {1, 2}, {2, 3}}, nil, 0, []int32{0, 0, 1, 1}, 2,
		make([]graphs.Split, 0))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "edge homophily", EdgeHomophily(g), 2.0/3)
	near(t, "adjusted homophily", AdjustedHomophily(g), (2.0/3-0.5)/(1-0.5))
	s := GraphStats(g)
	near(t, "average degree", s.AverageDegree, 1.5)
	text, err := json.Marshal(s)
	if want := `{"name":"path","nodes":4,"edges":3,"classes":2,"features":0,"average_degree":1.5,` +
		`"splits":0,"edge_homophily":0.6666666666666666,"adjusted_homophily":0.33333333333333326}`; err != nil ||
		string(text) != want {
		t.Errorf("JSON %s, %v; want %s", text, err, want)
	}

	one, err := graphs.New("one class", 2, []graphs.Edge{{0, 1}}, nil, 0, []int32{0, 0}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "edge homophily of one class", EdgeHomophily(one), 1)
	near(t, "adjusted homophily of one class", AdjustedHomophily(one), math.NaN())
	for _, g := range []*graphs.Graph{one, {}} {
		text, err := json.Marshal(GraphStats(g))
		if err != nil || !strings.Contains(string(text), `"adjusted_homophily":null`) {
			t.Errorf("JSON %s, %v", text, err)
		}
	}
}

// TestGSL compares GSL with the sum over all pairs of nodes.
func TestGSL(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	n, d := 37, 5
	x := make([]float64, n*d)
	for i := range x {
		x[i] = random.NormFloat64() + 0.5
	}
	clear(x[2*d : 3*d])
	want := 0.0
	for i := range n {
		for j := range n {
			dot, a, b := 0.0, 0.0, 0.0
			for k := range d {
				dot += x[i*d+k] * x[j*d+k]
				a += x[i*d+k] * x[i*d+k]
				b += x[j*d+k] * x[j*d+k]
			}
			if i != j && a > 0 && b > 0 {
				want += dot / math.Sqrt(a*b)
			}
		}
	}
	got, err := GSL(x, n, d)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "GSL", got, want/float64(n*(n-1)))
	for i := range x {
		x[i] *= 1e200
	}
	if got, err = GSL(x, n, d); err != nil {
		t.Fatal(err)
	}
	near(t, "GSL of huge values", got, want/float64(n*(n-1)))

	same, err := GSL([]float32{1, 2, 2, 4, 0.5, 1}, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "GSL of parallel rows", same, 1)
	opposite, err := GSL([]float32{1, 0, -3, 0}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "GSL of opposite rows", opposite, -1)
	_, err = GSL([]float32{1, 2}, 1, 2)
	mustFail(t, err, "at least two nodes")
	_, err = GSL([]float32{1, 2, 3}, 2, 2)
	mustFail(t, err, "[n, d]")
	_, err = GSL([]float64{1, math.Inf(1)}, 2, 1)
	mustFail(t, err, "finite")
}

func TestSpread(t *testing.T) {
	near(t, "median of four", Median([]float64{4, 1, 3, 2}), 2.5)
	near(t, "median of three", Median([]float64{4, 1, 3}), 3)
	x := []float64{2, 4, 4, 4, 5, 5, 7, 9}
	near(t, "mean", Mean(x), 5)
	near(t, "population deviation", PopulationStd(x), 2)
	near(t, "sample deviation", SampleStd(x), math.Sqrt(32.0/7))
	near(t, "deviation of one", SampleStd(x[:1]), 0)
	near(t, "population deviation of one", PopulationStd(x[:1]), 0)
	for _, f := range []func([]float64) float64{Mean, SampleStd, PopulationStd} {
		near(t, "of nothing", f(nil), math.NaN())
	}
}

// TestUnlabelled checks that only edges whose two nodes both have labels count for homophily.
func TestUnlabelled(t *testing.T) {
	labels := []int32{0, 0, 1, graphs.Unlabelled}
	g, err := graphs.New("path", 4, []graphs.Edge{{0, 1}, {1, 2}, {2, 3}}, nil, 0, labels, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "edge homophily", EdgeHomophily(g), 0.5)
	if s := GraphStats(g); s.Unlabelled != 1 {
		t.Errorf("got %+v", s)
	}
}
