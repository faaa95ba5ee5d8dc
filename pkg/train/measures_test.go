package train

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
)

// TestMetricDecides trains for several metrics. The best epoch must be the first with the best value on validation
// nodes, early stopping must count from it, and the values must be those that the logits have by the definition of the
// metric.
func TestMetricDecides(t *testing.T) {
	e, g := enginetest.Open(t, engine.Go), board(t, 12)
	val := func(r *Result, of func(positive bool, z float64)) {
		for i, in := range g.Splits[0].Val {
			if in {
				of(g.Labels[i] == 1, float64(r.Logits[i]))
			}
		}
	}
	epochs := map[string]int{}
	for metric, c := range map[string]struct {
		lower bool
		by    func(r *Result) float64
	}{
		"auto": {},
		"log-loss": {true, func(r *Result) float64 {
			sum, n := 0.0, 0.0
			val(r, func(positive bool, z float64) {
				if positive {
					z = -z
				}
				sum, n = sum+math.Log(1+math.Exp(z)), n+1
			})
			return sum / n
		}},
		// Over the nodes of class 1, the mean share of class 1 among nodes that score at least as high.
		"average-precision": {false, func(r *Result) float64 {
			sum, n := 0.0, 0.0
			val(r, func(positive bool, z float64) {
				if !positive {
					return
				}
				found, above := 0.0, 0.0
				val(r, func(other bool, y float64) {
					if y >= z {
						above++
						if other {
							found++
						}
					}
				})
				sum, n = sum+found/above, n+1
			})
			return sum / n
		}},
		"balanced-accuracy": {false, func(r *Result) float64 {
			var right, all [2]float64
			val(r, func(positive bool, z float64) {
				k, above := 0, 1/(1+math.Exp(-z)) > r.Measures.Thresholds["balanced_accuracy"]
				if positive {
					k = 1
				}
				if all[k]++; above == positive {
					right[k]++
				}
			})
			return (right[0]/all[0] + right[1]/all[1]) / 2
		}},
	} {
		config := small("gcn")
		config.Metric, config.Epochs, config.Patience, config.LearningRate = metric, 60, 15, 0.1
		r := fitted(t, e, g, config)
		epochs[metric] = r.BestEpoch
		at, best := 0, math.Inf(-1)
		for _, epoch := range r.History {
			v := float64(epoch.Val)
			if c.lower {
				v = -v
			}
			if v > best {
				at, best = epoch.Epoch, v
			}
		}
		if r.BestEpoch != at || r.Val != r.History[at-1].Val {
			t.Errorf("%s: epoch %d with %v, want %d with %v", metric, r.BestEpoch, r.Val, at, best)
		}
		if r.Epochs != min(60, at+16) { // the first 15 epochs without a better one are known after a step more
			t.Errorf("%s: best epoch %d of %d", metric, at, r.Epochs)
		}
		name := strings.ReplaceAll(metric, "-", "_")
		if c.by == nil {
			name = "roc_auc"
		} else if want := c.by(r); math.Abs(float64(r.Val)-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", metric, r.Val, want)
		}
		if r.Measures.Val[name] != r.Val || r.Measures.Test[name] != r.Test || len(r.Measures.Undefined) > 0 {
			t.Errorf("%s: %v and %v among %+v", metric, r.Val, r.Test, r.Measures)
		}
	}
	if epochs["log-loss"] == epochs["auto"] && epochs["average-precision"] == epochs["auto"] {
		t.Errorf("all metrics chose one epoch: %v", epochs)
	}
}

// TestClassAbsentFromTest: a measure that is undefined does not end the training, unless the training is for it.
func TestClassAbsentFromTest(t *testing.T) {
	e, g := enginetest.Open(t, engine.Go), board(t, 8)
	labels := make([]int32, g.NumNodes)
	for i := range labels {
		if labels[i] = int32(i % 3); g.Splits[0].Test[i] {
			labels[i] = int32(i % 2)
		}
	}
	three, err := graphs.New("three", g.NumNodes, g.Edges, g.Features, g.NumFeatures, labels, 3, g.Splits)
	if err != nil {
		t.Fatal(err)
	}
	three.ClassNames = []string{"ant", "bee", "cat"}
	c := small("mlp")
	c.Epochs = 3
	r := fitted(t, e, three, c)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"roc_auc":null`, "ROC-AUC on test nodes is undefined: none is of class cat",
		"average precision on test nodes is undefined: none is of class cat"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
	var again Result
	if err := json.Unmarshal(text, &again); err != nil || !math.IsNaN(float64(again.Measures.Test["roc_auc"])) ||
		again.Measures.Test["log_loss"] != r.Measures.Test["log_loss"] {
		t.Errorf("%+v, %v", again.Measures, err)
	}
	if r.Measures.Thresholds != nil || len(r.Measures.Undefined) != 2 {
		t.Errorf("%+v", r.Measures)
	}
	d, err := Describe(e, three, c, r)
	if err != nil || len(d.Confusion) != 3 || d.Calibration == nil || d.Validate() != nil {
		t.Errorf("%+v, %v", d, err)
	}
	c.Metric = "roc-auc"
	_, err = Fit(t.Context(), e, three, 0, c, &Options{Epoch: func(Epoch) { t.Error("the training has begun") }})
	if err == nil || !strings.Contains(err.Error(), "none of its test nodes is of class cat, without which ROC-AUC") {
		t.Errorf("got %v", err)
	}
	c.Metric = "recall"
	_, err = Fit(t.Context(), e, three, 0, c, nil)
	if err == nil || !strings.Contains(err.Error(), "macro-f1 or roc-auc") {
		t.Errorf("got %v", err)
	}
}

// TestThresholdOfRareClass: one node in ten is of class 1. At 0.5, hardly any is taken for it; at the threshold, some
// are, in the confusion matrix, too.
func TestThresholdOfRareClass(t *testing.T) {
	e, g := enginetest.Open(t, engine.Go), board(t, 16)
	rare := *g
	rare.Labels = slices.Clone(g.Labels)
	for i := range rare.Labels {
		if i%2 == 0 {
			rare.Labels[i] = 0
		}
	}
	c := small("gcn")
	c.Metric = "macro-f1"
	r := fitted(t, e, &rare, c)
	at := r.Measures.Thresholds["macro_f1"]
	if !(at > 0 && at < 0.5) || r.Val != r.Measures.Val["macro_f1"] {
		t.Errorf("the threshold is %v: %+v", at, r.Measures)
	}
	d, err := Describe(e, &rare, c, r)
	if err != nil || d.ROC != nil || len(d.Confusion) != 2 || d.Confusion[0][1]+d.Confusion[1][1] == 0 {
		t.Fatalf("%+v, %v", d, err)
	}
	var f1 float64
	for k := range 2 {
		f1 += float64(d.Confusion[k][k]) / float64(2*d.Confusion[k][k]+d.Confusion[0][1]+d.Confusion[1][0])
	}
	if math.Abs(f1-float64(r.Test)) > 1e-12 {
		t.Errorf("the confusion matrix %v has a macro F1 of %v, the result %v", d.Confusion, f1, r.Test)
	}
}
