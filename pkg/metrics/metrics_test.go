package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/data"
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

func TestAccuracy(t *testing.T) {
	got, err := Evaluate(data.Accuracy, []float32{1, 2, 0, 3, 3, 1, 0, 0, -1}, 3, []int32{1, 0, 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "accuracy with a tie", got, 2.0/3)
	got, err = Accuracy([]int32{1, 0, 0}, []int32{1, 0, 2}, []bool{true, false, true})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "masked accuracy", got, 0.5)
	_, err = Accuracy([]int32{1}, []int32{1}, []bool{false})
	mustFail(t, err, "mask is empty")
	_, err = Accuracy([]int32{1}, []int32{1, 2}, nil)
	mustFail(t, err, "one of each per node")
	_, err = Accuracy([]int32{1}, []int32{1}, []bool{true, true})
	mustFail(t, err, "one of each per node")
	_, err = Argmax([]float64{1, math.NaN()}, 2)
	mustFail(t, err, "training has diverged")
	_, err = Argmax([]float64{1, 2, 3}, 2)
	mustFail(t, err, "rows of 2")
	_, err = Evaluate(data.Accuracy, []float32{1, 2, 3}, 2, []int32{1, 0}, nil)
	mustFail(t, err, "[nodes, outputs]")
	_, err = Evaluate("mse", []float32{1}, 1, []int32{1}, nil)
	mustFail(t, err, "unknown task")
}

func TestROCAUC(t *testing.T) {
	for _, c := range []struct {
		scores []float32
		labels []int32
		want   float64
	}{
		{[]float32{0.1, 0.4, 0.35, 0.8}, []int32{0, 0, 1, 1}, 0.75}, // the example of scikit-learn's documentation
		{[]float32{1, 2, 3, 4}, []int32{0, 0, 1, 1}, 1},
		{[]float32{4, 3, 2, 1}, []int32{0, 0, 1, 1}, 0},
		{[]float32{5, 5, 5, 5, 5}, []int32{0, 1, 1, 0, 0}, 0.5},
		{[]float32{1, 2, 2, 3}, []int32{0, 0, 1, 1}, 0.875},
		{[]float32{float32(math.Inf(-1)), 0, float32(math.Inf(1))}, []int32{1, 0, 1}, 0.5},
	} {
		got, err := ROCAUC(c.scores, c.labels, nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "ROC-AUC", got, c.want)
	}
	_, err := ROCAUC([]float32{1, 2}, []int32{1, 1}, nil)
	mustFail(t, err, "undefined for 0 nodes of class 0 and 2 of class 1")
	_, err = ROCAUC([]float32{1, 2, 3}, []int32{1, 1, 0}, []bool{true, true, false})
	mustFail(t, err, "undefined")
	_, err = ROCAUC([]float32{1, 2}, []int32{0, 2}, nil)
	mustFail(t, err, "label 2")
	_, err = ROCAUC([]float64{1, math.NaN()}, []int32{0, 1}, nil)
	mustFail(t, err, "diverged")
	got, err := Evaluate(data.ROCAUC, []float32{0, 1, 5, 5.5, 1, 3}, 2, []int32{0, 0, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "ROC-AUC of two logits", got, 1)
	_, err = Evaluate(data.ROCAUC, []float32{1, 2, 3}, 3, []int32{0}, nil)
	mustFail(t, err, "one or two outputs")
}

// TestROCAUCCountsPairs compares ROCAUC with its definition. All pairs of a node of class 0 and a node of class 1 are
// formed. ROC-AUC is the share of the pairs in which the node of class 1 has the higher score, where a pair with equal
// scores counts one half.
func TestROCAUCCountsPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		scores, labels, mask := make([]float64, 60), make([]int32, 60), make([]bool, 60)
		for i := range scores {
			scores[i], labels[i], mask[i] = float64(random.IntN(8)), int32(random.IntN(2)), random.IntN(4) > 0
		}
		wins, pairs := 0.0, 0.0
		for i := range scores {
			for j := range scores {
				if mask[i] && mask[j] && labels[i] == 1 && labels[j] == 0 {
					pairs++
					if scores[i] > scores[j] {
						wins++
					} else if scores[i] == scores[j] {
						wins += 0.5
					}
				}
			}
		}
		got, err := ROCAUC(scores, labels, mask)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "ROC-AUC", got, wins/pairs)
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

func TestConfusion(t *testing.T) {
	logits := []float32{1, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 3}
	got, err := Confusion(logits, 3, []int32{0, 0, 1, 2}, []bool{true, true, true, false})
	if err != nil || fmt.Sprint(got) != "[[1 1 0] [0 1 0] [0 0 0]]" {
		t.Errorf("got %v, %v", got, err)
	}
	_, err = Confusion(logits, 3, []int32{0, 0, 1, -1}, nil)
	mustFail(t, err, "label -1")
	_, err = Confusion(logits, 3, []int32{0}, nil)
	mustFail(t, err, "one of each per node")
}

// TestROC checks that the area below the curve that ROC returns equals the result of ROCAUC. After Thin has dropped
// points of the curve, the area must be nearly the same.
func TestROC(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	scores, labels := make([]float64, 3000), make([]int32, 3000)
	for i := range scores {
		labels[i] = int32(random.IntN(2))
		scores[i] = float64(random.IntN(500)) + 150*float64(labels[i])
	}
	x, y, err := ROC(scores, labels, nil)
	if err != nil {
		t.Fatal(err)
	}
	area := func(x, y []float64) (sum float64) {
		for i := 1; i < len(x); i++ {
			sum += (x[i] - x[i-1]) * (y[i] + y[i-1]) / 2
		}
		return sum
	}
	want, err := ROCAUC(scores, labels, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "area", area(x, y), want)
	thinX, thinY := Thin(x, y, 100)
	if n := len(thinX); n > 202 || thinX[0] != 0 || thinY[n-1] != 1 || math.Abs(area(thinX, thinY)-want) > 1e-3 {
		t.Errorf("%d points with an area of %v, want %v", n, area(thinX, thinY), want)
	}
	_, _, err = ROC(scores, make([]int32, 3000), nil)
	mustFail(t, err, "undefined")
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
