package metrics

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// drawn returns the predictions that golden values are of: whole numbers from a linear congruential generator, over 8,
// with many ties. Of two classes, share nodes in a thousand are of class 1.
func drawn(t *testing.T, nodes, classes, share int) *Predictions {
	t.Helper()
	state := int64(12345)
	if classes > 2 {
		state = 54321
	}
	draw := func() int { state = (1103515245*state + 12345) % (1 << 31); return int(state / 65536) }
	var logits []float64
	labels := make([]int32, nodes)
	for i := range labels {
		if classes > 2 {
			labels[i] = int32(draw() % classes)
			for k := range classes {
				z := draw()%40 - 20
				if k == int(labels[i]) {
					z += 8
				}
				logits = append(logits, float64(z)/8)
			}
			continue
		}
		if draw()%1000 < share {
			labels[i] = 1
		}
		logits = append(logits, float64(draw()%1000/20-25+8*int(labels[i])-4)/8)
	}
	outputs := classes
	if classes == 2 {
		outputs = 1
	}
	p, err := Select(logits, outputs, labels, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMeasures compares all measures with those of scikit-learn 1.9.1: accuracy_score, balanced_accuracy_score,
// f1_score(average="macro"), roc_auc_score (of logits; of softmax probabilities with multi_class="ovr",
// average="macro"), average_precision_score (likewise, of labels in one-hot form) and log_loss. Of NaN, the measure is
// undefined; scikit-learn gives a warning there, with NaN for ROC-AUC and 0 for average precision.
func TestMeasures(t *testing.T) {
	none := math.NaN()
	three := drawn(t, 300, 4, 0)
	few := &Predictions{Outputs: 4}
	for i, l := range three.Labels {
		if l != 3 && len(few.Labels) < 100 {
			few.Labels, few.Logits = append(few.Labels, l), append(few.Logits, three.row(i)...)
		}
	}
	for name, c := range map[string]struct {
		p    *Predictions
		want [6]float64
	}{
		"half": {drawn(t, 200, 2, 500), [6]float64{0.6, 0.603030303030303, 0.5996396757081373, 0.6677777777777778,
			0.7207420742498919, 0.7800135390124536}},
		"29 of 1000": {drawn(t, 1000, 2, 30), [6]float64{0.635, 0.577879186050641, 0.4242675184352695,
			0.6411449270215561, 0.17699080727824107, 0.7134462413581627}},
		"in its documentation": {&Predictions{[]float64{0.1, 0.4, 0.35, 0.8}, 1, []int32{0, 0, 1, 1}, nil},
			[6]float64{0.5, 0.5, 0.3333333333333333, 0.75, 0.8333333333333333, 0.6404736834600195}},
		"ties alone": {&Predictions{[]float64{0.25, 0.25, 0.25, 0.25, 0.25}, 1, []int32{0, 1, 1, 0, 0}, nil},
			[6]float64{0.4, 0.5, 0.2857142857142857, 0.5, 0.4, 0.7259394198788435}},
		"class 0 alone": {&Predictions{[]float64{-1, 2, 0.5}, 1, []int32{0, 0, 0}, nil},
			[6]float64{0.3333333333333333, 0.3333333333333333, 0.25, none, none, 1.1380888942471004}},
		"class 1 alone": {&Predictions{[]float64{-1, 2, 0.5}, 1, []int32{1, 1, 1}, nil},
			[6]float64{0.6666666666666666, 0.6666666666666666, 0.4, none, 1, 0.6380888942471007}},
		"four classes": {three, [6]float64{0.42, 0.42419982618351176, 0.4191949445330854, 0.7075161728282706,
			0.4655234203586366, 1.3645519083488775}},
		"none of class 3": {few, [6]float64{0.42, 0.42394212394212394, 0.3418247528190507, none, none,
			1.308542071836189}},
	} {
		for i, m := range Measures {
			got, err := m.Of(c.p, Even)
			if math.IsNaN(c.want[i]) {
				var why *UndefinedError
				if !errors.As(err, &why) || why.Measure.Name != m.Name {
					t.Errorf("%s: %s is %v, %v", name, m.Title, got, err)
				}
				continue
			}
			if err != nil {
				t.Error(err)
			}
			near(t, name+": "+m.Title, got, c.want[i])
		}
	}
	_, err := Named("roc_auc").Of(few, Even)
	mustFail(t, err, "ROC-AUC is undefined: no node is of class 3")
	_, err = Named("roc_auc").Of(&Predictions{[]float64{1, 2, 3, 4, 5, 6}, 3, []int32{0, 0}, nil}, Even)
	mustFail(t, err, "no node is of class 1")
	_, err = Named("mse").Of(few, Even)
	mustFail(t, err, `no measure "mse"`)
}

// TestLogLossOfCertainty: where the probability of a class rounds to 0 or 1, its logarithm is still exact.
func TestLogLossOfCertainty(t *testing.T) {
	p := &Predictions{[]float64{800, -800}, 1, []int32{0, 0}, nil}
	got, _ := Named("log_loss").Of(p, Even)
	near(t, "log loss", got, 400)
	got, _ = Named("log_loss").Of(&Predictions{[]float64{800, 0, 0}, 3, []int32{1}, nil}, Even)
	near(t, "log loss of three classes", got, 800)
}

// TestThresholds compares with a search in numpy over 0.5 and the middles between probabilities, judged by
// scikit-learn 1.9.1.
func TestThresholds(t *testing.T) {
	half, rare := drawn(t, 200, 2, 500), drawn(t, 1000, 2, 30)
	sigmoid := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	next := 1.0 // the next logit whose probability is another: no number is between the two
	for sigmoid(next) == sigmoid(1) {
		next = math.Nextafter(next, 2)
	}
	for _, c := range []struct {
		measure         string
		p               *Predictions
		threshold, want float64
	}{
		{"balanced_accuracy", rare, 0.4533070628702228, 0.6095209346922832},
		{"macro_f1", rare, 0.9434074663173135, 0.6148572661028178},
		{"balanced_accuracy", half, 0.23389257597884028, 0.6287878787878788},
		{"macro_f1", half, 0.23389257597884028, 0.6260697827518105},
		{"accuracy", rare, 0.5, 0.635},
		{"balanced_accuracy", &Predictions{[]float64{-1, -1}, 1, []int32{0, 1}, nil}, 0.5, 0.5},
		{"balanced_accuracy", &Predictions{[]float64{-1, 1, 2}, 1, []int32{0, 1, 1}, nil}, 0.5, 1},
		{"balanced_accuracy", &Predictions{[]float64{1, 2, 3}, 1, []int32{0, 0, 0}, nil}, 0.5, 0}, // nothing to choose by
		{"balanced_accuracy", &Predictions{[]float64{5, 4}, 3, nil, nil}, 0.5, math.NaN()},
		{"balanced_accuracy", &Predictions{[]float64{1, next, 1.5}, 1, []int32{0, 1, 1}, nil}, sigmoid(1), 1},
	} {
		m := Named(c.measure)
		at := m.Threshold(c.p)
		near(t, c.measure+"'s threshold", at, c.threshold)
		if !math.IsNaN(c.want) {
			got, _ := m.Of(c.p, at)
			near(t, c.measure, got, c.want)
		}
	}
}

// TestCalibration compares with the definition of Guo et al. (2017) in numpy.
func TestCalibration(t *testing.T) {
	bins, got := drawn(t, 1000, 2, 30).Calibration()
	near(t, "expected calibration error", got, 0.17669800641350628)
	want := []Bin{{22, 0.5, 0.9545454545454546}, {122, 0.5622700169621707, 0.5491803278688525},
		{116, 0.6480607916739785, 0.5517241379310345}, {218, 0.7578313478032135, 0.518348623853211},
		{234, 0.8563897208794772, 0.5512820512820513}, {288, 0.9420957777883395, 0.8368055555555556}}
	if len(bins) != len(want) {
		t.Fatalf("got %v", bins)
	}
	for i, b := range bins {
		near(t, "nodes", float64(b.Nodes), float64(want[i].Nodes))
		near(t, "confidence", b.Confidence, want[i].Confidence)
		near(t, "accuracy", b.Accuracy, want[i].Accuracy)
	}
	bins, got = drawn(t, 300, 4, 0).Calibration()
	near(t, "expected calibration error of four classes", got, 0.2068201543829325)
	if len(bins) != 7 || bins[0].Nodes != 22 {
		t.Errorf("got %v", bins)
	}
}

func TestSelect(t *testing.T) {
	p, err := Select([]float32{0, 1, 5, 5.5, 1, 3}, 2, []int32{0, 0, 1}, []bool{true, false, true})
	if err != nil || fmt.Sprint(*p) != "{[1 2] 1 [0 1] []}" {
		t.Errorf("of two outputs: %v, %v", p, err)
	}
	logits := []float32{1, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 3, 3, 3, 1}
	p, err = Select(logits, 3, []int32{0, 0, 1, 2, 1}, []bool{true, true, true, false, true})
	if err != nil || fmt.Sprint(p.Confusion(Even)) != "[[1 1 0] [1 1 0] [0 0 0]]" {
		t.Errorf("got %v, %v", p, err)
	}
	for want, c := range map[string]struct {
		logits  []float32
		outputs int
		labels  []int32
		mask    []bool
	}{
		"mask is empty":                        {[]float32{1}, 1, []int32{1}, []bool{false}},
		"[nodes, outputs]":                     {[]float32{1, 2, 3}, 2, []int32{1, 0}, nil},
		"a mask of 2":                          {[]float32{1}, 1, []int32{1}, []bool{true, true}},
		"label -1, but classes are numbered":   {[]float32{1}, 1, []int32{-1}, nil},
		"label 2, but":                         {[]float32{1}, 1, []int32{2}, nil},
		"node 1 is not a number":               {[]float32{1, float32(math.NaN())}, 1, []int32{1, 0}, nil},
		"node 0 is not a number; training has": {[]float32{0, 1, float32(math.NaN())}, 3, []int32{1}, nil},
	} {
		_, err := Select(c.logits, c.outputs, c.labels, c.mask)
		mustFail(t, err, want)
	}
}

// TestROCAUCCountsPairs compares ROC-AUC with its definition. All pairs of a node of class 0 and a node of class 1 are
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
		p, err := Select(scores, 1, labels, mask)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Named("roc_auc").Of(p, Even)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "ROC-AUC", got, wins/pairs)
	}
}

// TestROC checks that the area below the curve that ROC returns equals ROC-AUC. After Thin has dropped points of the
// curve, the area must be nearly the same.
func TestROC(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	p := &Predictions{make([]float64, 3000), 1, make([]int32, 3000), nil}
	for i := range p.Labels {
		p.Labels[i] = int32(random.IntN(2))
		p.Logits[i] = float64(random.IntN(500)) + 150*float64(p.Labels[i])
	}
	x, y, err := p.ROC()
	if err != nil {
		t.Fatal(err)
	}
	area := func(x, y []float64) (sum float64) {
		for i := 1; i < len(x); i++ {
			sum += (x[i] - x[i-1]) * (y[i] + y[i-1]) / 2
		}
		return sum
	}
	want, err := Named("roc_auc").Of(p, Even)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "area", area(x, y), want)
	thinX, thinY := Thin(x, y, 100)
	if n := len(thinX); n > 202 || thinX[0] != 0 || thinY[n-1] != 1 || math.Abs(area(thinX, thinY)-want) > 1e-3 {
		t.Errorf("%d points with an area of %v, want %v", n, area(thinX, thinY), want)
	}
	p.Labels = make([]int32, 3000)
	_, _, err = p.ROC()
	mustFail(t, err, "undefined")
	_, _, err = drawn(t, 10, 4, 0).ROC()
	mustFail(t, err, "two classes, there are 4")
}
