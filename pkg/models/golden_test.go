package models_test

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/train"
)

// golden is the content of a file in testdata/golden: a graph, a model with its settings and weights, and golden
// values. The golden values are the loss, the logits and the gradients that PyTorch computes in double precision, with
// layers of PyTorch Geometric. The program bench/golden.py writes the files.
type golden struct {
	Model     string
	Settings  map[string]json.RawMessage
	Edges     []graphs.Edge
	Features  [][]float32
	Labels    []int32
	Train     []bool
	Weights   map[string]train.Array
	Loss      float64
	Logits    [][]float64
	Gradients map[string][]float64
}

// logitsWithin, gradientWithin and zeroWithin say how much computed values may differ from the golden values (see
// [golden]). Differences are measured in the Euclidean norm. The logits may differ by logitsWithin times the norm of
// the golden logits. The gradient with respect to one parameter may differ by gradientWithin times its golden norm,
// plus zeroWithin times the norm of the gradients with respect to all parameters. The second term is for parameters
// that have no effect on the logits, for example because they cancel in a softmax. The gradient with respect to such a
// parameter is zero, up to rounding.
const logitsWithin, gradientWithin, zeroWithin = 2e-6, 1e-5, 1e-7

// TestGolden compares what models compute with golden values. The golden values come from the same models in PyTorch,
// which are made of PyTorch Geometric's layers.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden values: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			w := readGolden(t, file)
			enginetest.Each(t, func(t *testing.T, e *engine.Engine) { w.compare(t, e) })
		})
	}
}

func readGolden(t *testing.T, file string) (w golden) {
	t.Helper()
	document, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(document, &w)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return w
}

// compare computes the logits, the loss and the gradients on an engine, and compares them with the golden values.
func (w golden) compare(t *testing.T, e *engine.Engine) {
	c := train.Default(w.Model)
	for _, key := range slices.Sorted(maps.Keys(w.Settings)) {
		if err := c.Decode(key, w.Settings[key]); err != nil {
			t.Fatal(err)
		}
	}
	p, err := train.Evaluate(e, w.graph(t), 0, c, w.Weights, true)
	if err != nil {
		t.Fatal(err)
	}
	logits := slices.Concat(w.Logits...)
	if d := distance(p.Logits, logits); !(d <= logitsWithin*norm(logits)) {
		t.Errorf("the logits differ by %.1e of their norm", d/norm(logits))
	}
	if math.Abs(p.Loss-w.Loss) > 1e-6*w.Loss {
		t.Errorf("the loss is %g, want %g", p.Loss, w.Loss)
	}
	all := norm(slices.Concat(slices.Collect(maps.Values(w.Gradients))...))
	for name, want := range w.Gradients {
		if d := distance(p.Gradients[name].Values, want); !(d <= gradientWithin*norm(want)+zeroWithin*all) {
			t.Errorf("the gradient by %s differs by %.1e of its norm, %.1e of that of the gradient by all parameters",
				name, d/norm(want), d/all)
		}
	}
	if len(p.Gradients) != len(w.Gradients) {
		t.Errorf("there are gradients by %d parameters, want %d", len(p.Gradients), len(w.Gradients))
	}
}

func (w golden) graph(t *testing.T) *graphs.Graph {
	t.Helper()
	n := len(w.Labels)
	others := make([]bool, n)
	for i, train := range w.Train {
		others[i] = !train
	}
	g, err := graphs.New("golden", n, w.Edges, slices.Concat(w.Features...), len(w.Features[0]), w.Labels,
		int(slices.Max(w.Labels))+1, []graphs.Split{{Train: w.Train, Val: others, Test: make([]bool, n)}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// distance returns the Euclidean distance of two vectors, or NaN if their lengths differ.
func distance(got []float32, want []float64) float64 {
	if len(got) != len(want) {
		return math.NaN()
	}
	d := make([]float64, len(want))
	for i, v := range want {
		d[i] = float64(got[i]) - v
	}
	return norm(d)
}

func norm(v []float64) (n float64) {
	for _, x := range v {
		n = math.Hypot(n, x)
	}
	return n
}
