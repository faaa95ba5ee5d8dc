package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// Details are what an HTML page about a training shows besides the numbers in [Result]: curves over epochs, a confusion
// matrix or a ROC curve, and the smoothness of the features. They are small enough to be stored in a run record.
type Details struct {
	// Metric is the name of the metric by which models of the graph are judged: "accuracy" or "roc_auc". Classes are
	// the names of the graph's classes.
	Metric  string   `json:"metric"`
	Classes []string `json:"classes"`
	Curves  Curves   `json:"curves"`
	// If the metric is accuracy, Confusion is the confusion matrix ([metrics.Confusion]): the number of nodes for each
	// true class and each predicted class. It is left out if there are more than 64 classes. If the metric is ROC-AUC,
	// ROC is the ROC curve. Confusion or ROC is computed with the weights of the best epoch on the test nodes. If the
	// split has no test nodes, it is computed on the validation nodes. Judged says which nodes: "test" or "validation".
	Judged    string  `json:"judged,omitempty"`
	Confusion [][]int `json:"confusion,omitempty"`
	ROC       *ROC    `json:"roc,omitempty"`
	// Forward has the smoothness of the features after some of the forward layers. Reverse has the smoothness after
	// some of the reverse layers. Both are computed with the weights of the best epoch. If the smoothness cannot be
	// computed, NoSmoothness says why, in a sentence.
	Forward      []Smoothness `json:"forward,omitempty"`
	Reverse      []Smoothness `json:"reverse,omitempty"`
	NoSmoothness string       `json:"no_smoothness,omitempty"`
}

// Curves shows how numbers change over the epochs. Epochs lists the epochs at which the numbers are given: all epochs
// or, in long trainings, a selection at even distances. Each other field has one value for each of these epochs, or is
// empty. Val and Test are the validation and test metrics. Test is empty if the split has no test nodes.
//
// Solve is the mean number of iterations per reverse layer in solves. Adjoint is the mean number of iterations per
// reverse layer in adjoint solves. Residual is the largest residual of a solve. GRAND has no solves: for GRAND, Solve
// and Adjoint count what [Iterations] says, and Residual is 0. Of the other models, those without a reverse process
// have no values for Solve, Adjoint and Residual.
type Curves struct {
	Epochs   []int    `json:"epochs"`
	Loss     []Number `json:"loss"`
	Val      []Number `json:"val"`
	Test     []Number `json:"test,omitempty"`
	Solve    []Number `json:"solve,omitempty"`
	Adjoint  []Number `json:"adjoint,omitempty"`
	Residual []Number `json:"residual,omitempty"`
}

// ROC is a receiver operating characteristic: a curve with one point for each of several thresholds, from the highest
// threshold to the lowest. A node is predicted as class 1 if its logit is at least the threshold. FalsePositive has,
// for each threshold, the share of the nodes of class 0 that are predicted as class 1. TruePositive has, for each
// threshold, the share of the nodes of class 1 that are predicted as class 1.
type ROC struct {
	FalsePositive []Number `json:"false_positive"`
	TruePositive  []Number `json:"true_positive"`
}

// Smoothness says how alike the features of the nodes are after a number of layers ([metrics.Smoothness]). Records made
// before the other three measures existed have the GSL alone.
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

// Describe computes the details of a training. For the smoothness, it evaluates the model once more, with the weights
// of the best epoch. It leaves this out if the training was interrupted, since whoever interrupts a training does not
// want to wait.
func Describe(e *engine.Engine, g *graphs.Graph, c Config, r *Result) (*Details, error) {
	d := &Details{Metric: Metric(g), Classes: g.Classes(), Curves: curvesOf(r)}
	if r.BestEpoch == 0 {
		d.NoSmoothness = "the training has no best epoch"
		return d, nil
	}
	if err := d.judge(g, r); err != nil {
		return nil, fmt.Errorf("graph %q, split %d, %s: %w", g.Name, r.Split, d.Judged, err)
	}
	if r.Status == Interrupted {
		d.NoSmoothness = "the training was interrupted"
		return d, nil
	}
	t, err := Trace(e, g, r.Split, c, r.Weights, Followed(max(c.Forward, c.Reverse)))
	if err != nil {
		d.NoSmoothness = err.Error()
		return d, nil
	}
	d.Forward, d.Reverse = SmoothnessOf(t.Forward), SmoothnessOf(t.Reverse)
	return d, nil
}

// Validate checks details that were read from a file. It returns an error in three cases: the confusion matrix does not
// have one row and one column for each class, there is a ROC curve but the number of classes is not two, or a curve has
// too few or too many values. If d is nil, there is nothing to check, and Validate returns no error.
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
	c := d.Curves
	for name, curve := range map[string][]Number{"loss": c.Loss, "val": c.Val, "test": c.Test, "solve": c.Solve,
		"adjoint": c.Adjoint, "residual": c.Residual} {
		if len(curve) > 0 && len(curve) != len(c.Epochs) {
			return fmt.Errorf("the curve %q has %d values for %d epochs", name, len(curve), len(c.Epochs))
		}
	}
	return nil
}

// judge computes the confusion matrix or the ROC curve from the logits in the result r.
func (d *Details) judge(g *graphs.Graph, r *Result) error {
	nodes := g.Splits[r.Split].Test
	d.Judged = "test"
	if none(nodes) {
		d.Judged, nodes = "validation", g.Splits[r.Split].Val
	}
	if d.Metric == data.ROCAUC {
		x, y, err := metrics.ROC(r.Logits, g.Labels, nodes)
		if err != nil {
			return err
		}
		x, y = metrics.Thin(x, y, mostPoints/2)
		d.ROC = &ROC{rounded(x), rounded(y)}
		return nil
	}
	if g.NumClasses > mostClasses {
		return nil
	}
	var err error
	d.Confusion, err = metrics.Confusion(r.Logits, r.Outputs, g.Labels, nodes)
	return err
}

// curvesOf returns the curves of a training. If the history has more than mostEpochs epochs, the curves have at most
// mostEpochs of them, at even distances, and in addition the best epoch and the last epoch.
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

// Followed lists the numbers of layers after which the smoothness is computed: 0, the powers of two below the depth,
// and the depth. For depths above 16, the list has powers of four instead of powers of two. The list is short, since
// each number in it makes compiling slower.
func Followed(depth int) []int {
	layers, by := []int{0}, 2
	if depth > 16 {
		by = 4
	}
	for l := 1; l < depth; l *= by {
		layers = append(layers, l)
	}
	return append(layers, depth)
}

// SmoothnessOf returns the measures of states, rounded to five significant digits.
func SmoothnessOf(states []State) (out []Smoothness) {
	for _, s := range states {
		dirichlet, mad, rank := significant(s.Dirichlet), significant(s.MAD), significant(s.EffectiveRank)
		out = append(out, Smoothness{s.Layer, significant(s.GSL), &dirichlet, &mad, &rank})
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
