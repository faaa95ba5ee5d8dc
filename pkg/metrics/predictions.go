package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/revgnn/revgnn/data"
)

// Float stands for the types of scores and of representations: float32 and float64.
type Float interface{ ~float32 | ~float64 }

// Predictions are a model's outputs for nodes whose classes are known, at least one.
type Predictions struct {
	// Logits are [nodes, Outputs], row by row: one for each class or, for two classes, that of class 1 alone.
	Logits  []float64
	Outputs int
	Labels  []int32

	probabilities []float64 // [nodes, classes], once they are asked for
}

// Select returns the predictions for the nodes that the mask selects, out of logits, [nodes, outputs]. Of two outputs,
// the second minus the first is the logit of class 1. A nil mask selects all nodes. No nodes, a label that is no class,
// and NaN are errors.
func Select[F Float](logits []F, outputs int, labels []int32, mask []bool) (*Predictions, error) {
	if outputs < 1 || len(logits) != len(labels)*outputs || mask != nil && len(mask) != len(labels) {
		return nil, fmt.Errorf("%d logits for %d nodes of %d outputs each, and a mask of %d; logits must be "+
			"[nodes, outputs], and a mask [nodes]", len(logits), len(labels), outputs, len(mask))
	}
	p := &Predictions{Outputs: outputs}
	if outputs == 2 {
		p.Outputs = 1
	}
	for i, l := range labels {
		if mask != nil && !mask[i] {
			continue
		}
		if l < 0 || int(l) >= p.Classes() {
			return nil, fmt.Errorf("node %d has label %d, but classes are numbered 0 to %d", i, l, p.Classes()-1)
		}
		p.Labels = append(p.Labels, l)
		for _, v := range logits[i*outputs : (i+1)*outputs] {
			p.Logits = append(p.Logits, float64(v))
		}
		if last := len(p.Logits) - 1; outputs == 2 {
			p.Logits = append(p.Logits[:last-1], p.Logits[last]-p.Logits[last-1])
		}
		if slices.ContainsFunc(p.Logits[len(p.Logits)-p.Outputs:], math.IsNaN) {
			return nil, fmt.Errorf("an output of node %d is not a number; training has diverged", i)
		}
	}
	if len(p.Labels) == 0 {
		return nil, fmt.Errorf("no nodes are selected; the mask is empty")
	}
	return p, nil
}

// Classes is the number of classes.
func (p *Predictions) Classes() int { return max(2, p.Outputs) }

// absent is the first class without nodes, or -1.
func (p *Predictions) absent() int {
	for class := range p.Classes() {
		if !slices.Contains(p.Labels, int32(class)) {
			return class
		}
	}
	return -1
}

func (p *Predictions) row(node int) []float64 { return p.Logits[node*p.Outputs : (node+1)*p.Outputs] }

func (p *Predictions) logit(node int) float64 { return p.Logits[node] }

func (p *Predictions) probability(node, class int) float64 {
	if p.probabilities == nil {
		p.probabilities = Probabilities(p.Logits, p.Outputs)
	}
	return p.probabilities[node*p.Classes()+class]
}

// Probabilities are those of each class for each node, [nodes, classes] row by row: the softmax of logits, [nodes,
// outputs], or, for one output z, 1 - p and p = 1/(1 + e^-z).
func Probabilities[F Float](logits []F, outputs int) []float64 {
	if outputs == 1 {
		out := make([]float64, 0, 2*len(logits))
		for _, z := range logits {
			out = append(out, 1/(1+math.Exp(float64(z))), 1/(1+math.Exp(-float64(z))))
		}
		return out
	}
	out := make([]float64, len(logits))
	for from := 0; from < len(out); from += outputs {
		row, sum := logits[from:from+outputs], 0.0
		top := float64(slices.Max(row))
		for k, z := range row {
			out[from+k] = math.Exp(float64(z) - top)
			sum += out[from+k]
		}
		for k := range row {
			out[from+k] /= sum
		}
	}
	return out
}

// Even is the usual threshold of a decision between two classes: a node is of class 1 if that is the likelier one.
const Even = 0.5

// Confusion is the confusion matrix: entry [k][l] is the number of nodes of class k that are taken for class l. That is
// the class of the first largest logit or, for two classes, class 1 if its probability is above the threshold.
func (p *Predictions) Confusion(threshold float64) [][]int {
	counts := make([][]int, p.Classes())
	for k := range counts {
		counts[k] = make([]int, p.Classes())
	}
	for i, l := range p.Labels {
		counts[l][p.decide(i, threshold)]++
	}
	return counts
}

func (p *Predictions) decide(node int, threshold float64) int {
	if p.Outputs > 1 {
		return floats.MaxIdx(p.row(node))
	}
	if p.probability(node, 1) > threshold {
		return 1
	}
	return 0
}

// group counts the nodes of one score: those of other classes, and those of the class that the score is for.
type group struct {
	score float64
	count [2]int64
}

// ranked returns the groups of nodes by their score for a class, in ascending order.
func (p *Predictions) ranked(class int, score func(node int) float64) (groups []group) {
	nodes, scores := make([]int, len(p.Labels)), make([]float64, len(p.Labels))
	for i := range nodes {
		nodes[i], scores[i] = i, score(i)
	}
	slices.SortFunc(nodes, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	for _, i := range nodes {
		if n := len(groups); n == 0 || groups[n-1].score != scores[i] {
			groups = append(groups, group{score: scores[i]})
		}
		of := 0
		if int(p.Labels[i]) == class {
			of = 1
		}
		groups[len(groups)-1].count[of]++
	}
	return groups
}

// ROC has the points of the receiver operating characteristic for two classes, the curve above the area ROC-AUC: the
// shares of the nodes of classes 0 and 1 whose logit is at least a threshold. The thresholds are infinity, for (0, 0),
// and then all logits from the highest to the lowest. It is an [UndefinedError] if a class has no nodes.
func (p *Predictions) ROC() (falsePositive, truePositive []float64, err error) {
	if p.Outputs > 1 {
		return nil, nil, fmt.Errorf("a ROC curve is of two classes, there are %d; look at the confusion matrix",
			p.Outputs)
	}
	if _, err := Named(data.ROCAUC).Of(p, Even); err != nil {
		return nil, nil, err
	}
	falsePositive, truePositive = []float64{0}, []float64{0}
	groups := p.ranked(1, p.logit)
	all, above := total(groups), [2]int64{}
	for _, g := range slices.Backward(groups) {
		above[0] += g.count[0]
		above[1] += g.count[1]
		falsePositive = append(falsePositive, float64(above[0])/float64(all[0]))
		truePositive = append(truePositive, float64(above[1])/float64(all[1]))
	}
	return falsePositive, truePositive, nil
}

func total(groups []group) (all [2]int64) {
	for _, g := range groups {
		all[0] += g.count[0]
		all[1] += g.count[1]
	}
	return all
}

// Thin drops points of a rising curve from (0, 0) to (1, 1) where x + y is less than 1/n above that of the last one
// kept. The last point stays.
func Thin(x, y []float64, n int) (thinX, thinY []float64) {
	next := math.Inf(-1)
	for i := range x {
		if at := x[i] + y[i]; at >= next || i == len(x)-1 {
			thinX, thinY = append(thinX, x[i]), append(thinY, y[i])
			next = at + 1/float64(n)
		}
	}
	return thinX, thinY
}

// Bin has the nodes for whose likeliest class the model gives about the same probability: how many they are, the mean
// of that probability, and the share whose class it is.
type Bin struct {
	Nodes                int
	Confidence, Accuracy float64
}

// Calibration compares the probability of the likeliest class with how often it is right, in the bins (0, 0.1], (0.1,
// 0.2] to (0.9, 1], without empty ones. The expected calibration error is Σ_b n_b/n |accuracy_b - confidence_b| (Guo et
// al., On Calibration of Modern Neural Networks, ICML 2017).
func (p *Predictions) Calibration() (bins []Bin, expectedError float64) {
	const count = 10
	all := make([]Bin, count)
	for i, l := range p.Labels {
		taken := p.decide(i, Even)
		confidence := p.probability(i, taken)
		b := &all[max(0, int(math.Ceil(count*confidence))-1)]
		b.Nodes++
		b.Confidence += confidence
		if taken == int(l) {
			b.Accuracy++
		}
	}
	for _, b := range all {
		if b.Nodes == 0 {
			continue
		}
		n := float64(b.Nodes)
		b.Confidence, b.Accuracy = b.Confidence/n, b.Accuracy/n
		bins = append(bins, b)
		expectedError += n / float64(len(p.Labels)) * math.Abs(b.Accuracy-b.Confidence)
	}
	return bins, expectedError
}
