package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// Details are what a page about a training shows beside [Result], small enough for a run record.
type Details struct {
	// Metric is the name of that of the training.
	Metric  string   `json:"metric"`
	Classes []string `json:"classes"`
	Curves  Curves   `json:"curves"`
	// Confusion, for up to 64 classes, has the nodes for each true and each predicted class
	// ([metrics.Predictions.Confusion]). For two classes and a metric that does not decide, such as ROC-AUC, there is
	// the ROC curve instead. They are of the best epoch, on the nodes that Judged names: "test" or, without test nodes,
	// "validation".
	Judged      string       `json:"judged,omitempty"`
	Confusion   [][]int      `json:"confusion,omitempty"`
	ROC         *ROC         `json:"roc,omitempty"`
	Calibration *Calibration `json:"calibration,omitempty"`
	// Smoothness after some of the forward and of the reverse layers, in the best epoch, or a sentence why there is
	// none.
	Forward      []Smoothness `json:"forward,omitempty"`
	Reverse      []Smoothness `json:"reverse,omitempty"`
	NoSmoothness string       `json:"no_smoothness,omitempty"`
}

// Curves are numbers over epochs: at all epochs or, in long trainings, a selection at even distances. A field is empty
// if there are no such numbers. Solve and Adjoint are mean iterations per reverse layer (for GRAND, see [Iterations]),
// Residual is the largest of a solve.
type Curves struct {
	Epochs   []int    `json:"epochs"`
	Loss     []Number `json:"loss"`
	Val      []Number `json:"val"`
	Test     []Number `json:"test,omitempty"`
	Solve    []Number `json:"solve,omitempty"`
	Adjoint  []Number `json:"adjoint,omitempty"`
	Residual []Number `json:"residual,omitempty"`
}

// ROC is a receiver operating characteristic, from the highest threshold to the lowest: the shares of the nodes of
// class 0, and of class 1, whose logit is at least the threshold.
type ROC struct {
	FalsePositive []Number `json:"false_positive"`
	TruePositive  []Number `json:"true_positive"`
}

// Calibration has the reliability curve, and the expected calibration error, of [metrics.Predictions.Calibration].
type Calibration struct {
	Nodes      []int    `json:"nodes"`
	Confidence []Number `json:"confidence"`
	Accuracy   []Number `json:"accuracy"`
	Error      Number   `json:"expected_error"`
}

// Smoothness is that after a number of layers ([metrics.Smoothness]). Old records have the GSL alone.
type Smoothness struct {
	Layer         int     `json:"layer"`
	GSL           Number  `json:"gsl"`
	Dirichlet     *Number `json:"dirichlet,omitempty"`
	MAD           *Number `json:"mad,omitempty"`
	EffectiveRank *Number `json:"effective_rank,omitempty"`
}

// These limits keep run records small.
const (
	mostEpochs  = 250 // about the largest number of epochs of a curve; see curvesOf
	mostPoints  = 200 // largest number of points of a ROC curve
	mostClasses = 64  // largest number of classes of a confusion matrix
)

// Describe computes the details of a training. For the smoothness, it evaluates the model, unless the training was
// interrupted.
func Describe(e *engine.Engine, g *graphs.Graph, c Config, r *Result) (*Details, error) {
	d := &Details{Metric: Metric(c, g).Name, Classes: g.Classes(), Curves: curvesOf(r)}
	if r.BestEpoch == 0 {
		d.NoSmoothness = "the training has no best epoch"
		return d, nil
	}
	if err := d.judge(g, Metric(c, g), r); err != nil {
		return nil, fmt.Errorf("graph %q, split %d, %s: %w", g.Name, r.Split, d.Judged, err)
	}
	if r.Status == Interrupted {
		d.NoSmoothness = "the training was interrupted"
		return d, nil
	}
	t, err := Trace(e, g, r.Split, c, r.Weights, TracedLayers(max(c.Forward, c.Reverse)))
	if err != nil {
		d.NoSmoothness = err.Error()
		return d, nil
	}
	d.Forward, d.Reverse = SmoothnessOf(t.Forward), SmoothnessOf(t.Reverse)
	return d, nil
}

// Validate checks details that were read from a file; nil is valid.
func (d *Details) Validate() error {
	if d == nil {
		return nil
	}
	n := len(d.Classes)
	wrong := len(d.Confusion) > 0 && len(d.Confusion) != n
	for _, row := range d.Confusion {
		wrong = wrong || len(row) != n
	}
	if wrong {
		return fmt.Errorf("the confusion matrix is not one of its %d classes", n)
	}
	if d.ROC != nil && (n != 2 || len(d.ROC.FalsePositive) != len(d.ROC.TruePositive)) {
		return fmt.Errorf("the ROC curve of %d classes has %d and %d coordinates", n, len(d.ROC.FalsePositive),
			len(d.ROC.TruePositive))
	}
	if c := d.Calibration; c != nil && (len(c.Nodes) != len(c.Confidence) || len(c.Nodes) != len(c.Accuracy)) {
		return fmt.Errorf("the reliability curve has %d bins of nodes, %d of confidence and %d of accuracy",
			len(c.Nodes), len(c.Confidence), len(c.Accuracy))
	}
	c := d.Curves
	for name, curve := range map[string][]Number{"loss": c.Loss, "val": c.Val, "test": c.Test, "solve": c.Solve,
		"adjoint": c.Adjoint, "residual": c.Residual} {
		if len(curve) > 0 && len(curve) != len(c.Epochs) {
			return fmt.Errorf("the curve %q has %d values for %d epochs", name, len(curve), len(c.Epochs))
		}
	}
	return nil
}

// judge computes the confusion matrix or the ROC curve, and the calibration.
func (d *Details) judge(g *graphs.Graph, metric metrics.Measure, r *Result) error {
	nodes := g.Splits[r.Split].Test
	d.Judged = "test"
	if none(nodes) {
		d.Judged, nodes = "validation", g.Splits[r.Split].Val
	}
	p, err := metrics.Select(r.Logits, r.Outputs, g.Labels, nodes)
	if err != nil {
		return err
	}
	bins, expected := p.Calibration()
	d.Calibration = &Calibration{Error: significant(Number(expected))}
	for _, b := range bins {
		d.Calibration.Nodes = append(d.Calibration.Nodes, b.Nodes)
		d.Calibration.Confidence = append(d.Calibration.Confidence, significant(Number(b.Confidence)))
		d.Calibration.Accuracy = append(d.Calibration.Accuracy, significant(Number(b.Accuracy)))
	}
	switch {
	case g.NumClasses == 2 && !metric.Decides:
		x, y, err := p.ROC()
		if err != nil {
			return err
		}
		x, y = metrics.Thin(x, y, mostPoints/2)
		d.ROC = &ROC{rounded(x), rounded(y)}
	case g.NumClasses <= mostClasses:
		d.Confusion = p.Confusion(metric.At(r.Measures.Thresholds))
	}
	return nil
}

// curvesOf has about mostEpochs epochs at most, at even distances, with the best and the last one.
func curvesOf(r *Result) (c Curves) {
	step := max(1, (len(r.History)+mostEpochs-1)/mostEpochs)
	known := func(value func(Epoch) float64) bool {
		return slices.ContainsFunc(r.History, func(e Epoch) bool { v := value(e); return v != 0 && !math.IsNaN(v) })
	}
	test := known(func(e Epoch) float64 { return float64(e.Test) })
	solves := known(func(e Epoch) float64 { return e.Iterations.Solve })
	for i, e := range r.History {
		if i%step != 0 && i != len(r.History)-1 && e.Epoch != r.BestEpoch {
			continue
		}
		c.Epochs = append(c.Epochs, e.Epoch)
		c.Loss, c.Val = append(c.Loss, significant(e.Loss)), append(c.Val, significant(e.Val))
		if test {
			c.Test = append(c.Test, significant(e.Test))
		}
		if solves {
			c.Solve = append(c.Solve, significant(Number(e.Iterations.Solve)))
			c.Adjoint = append(c.Adjoint, significant(Number(e.Iterations.Adjoint)))
			c.Residual = append(c.Residual, significant(e.Residual))
		}
	}
	return c
}

// TracedLayers are the numbers of layers after which the smoothness is computed: 0, powers of two (of four if the depth is
// above 16), and the depth. Each makes compiling slower.
func TracedLayers(depth int) []int {
	layers, by := []int{0}, 2
	if depth > 16 {
		by = 4
	}
	for l := 1; l < depth; l *= by {
		layers = append(layers, l)
	}
	return append(layers, depth)
}

// SmoothnessOf has the measures of states, to five significant digits.
func SmoothnessOf(states []State) (out []Smoothness) {
	for _, s := range states {
		all := rounded([]float64{s.GSL, s.Dirichlet, s.MAD, s.EffectiveRank})
		out = append(out, Smoothness{s.Layer, all[0], &all[1], &all[2], &all[3]})
	}
	return out
}

func rounded(values []float64) []Number {
	out := make([]Number, len(values))
	for i, v := range values {
		out[i] = significant(Number(v))
	}
	return out
}

// significant rounds to five significant digits.
func significant(n Number) Number {
	v := float64(n)
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return n
	}
	const digits = 5
	unit := math.Pow(10, digits-1-math.Floor(math.Log10(math.Abs(v))))
	if math.IsInf(unit, 0) {
		return n
	}
	return Number(math.Round(v*unit) / unit)
}
