package metrics

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/revgnn/revgnn/data"
)

// Measure is a measure of predictions. Its definition is that of scikit-learn's function of the same name, but that it
// is undefined, not 0, where it says so.
type Measure struct {
	// Name is the one in JSON, such as "roc_auc", Title that in texts.
	Name, Title string
	// Lower says that lower values are better.
	Lower bool
	// Decides says that the measure is of the classes that nodes are taken for ([Predictions.Confusion]). If it is also
	// Tuned, two classes are told apart at the threshold that is best on validation nodes, else at [Even].
	Decides, Tuned bool

	// One of these is given. A ranking is that of the nodes by their score for a class, against all other classes; over
	// more than two classes, the measure is the mean. It is NaN where the measure is undefined.
	decided func(confusion [][]int) float64
	ranking func(groups []group) float64
	mean    func(p *Predictions, node int) float64
}

// Measures are all measures, in the order in which they are shown.
var Measures = []Measure{
	{Name: data.Accuracy, Title: "accuracy", Decides: true, decided: accuracy},
	{Name: "balanced_accuracy", Title: "balanced accuracy", Decides: true, Tuned: true, decided: balancedAccuracy},
	{Name: "macro_f1", Title: "macro F1", Decides: true, Tuned: true, decided: macroF1},
	{Name: data.ROCAUC, Title: "ROC-AUC", ranking: rocAUC},
	{Name: "average_precision", Title: "average precision", ranking: averagePrecision},
	{Name: "log_loss", Title: "log loss", Lower: true, mean: logLoss},
}

// Named is the measure of a name. One that does not exist can only be shown, under its name.
func Named(name string) Measure {
	if i := slices.IndexFunc(Measures, func(m Measure) bool { return m.Name == name }); i >= 0 {
		return Measures[i]
	}
	return Measure{Name: name, Title: name}
}

// Gain is the value, negative if lower values are better, so that a larger gain is always better. The gain of a gain
// is the value.
func (m Measure) Gain(value float64) float64 {
	if m.Lower {
		return -value
	}
	return value
}

// Scale is the factor with which values are shown, and their unit: percent for shares, nats for the log loss.
func (m Measure) Scale() (factor float64, unit string) {
	if m.mean != nil {
		return 1, "nats"
	}
	return 100, "%"
}

// UndefinedError says that a measure is undefined, since a class has no nodes.
type UndefinedError struct {
	Measure Measure
	Class   int
}

func (e *UndefinedError) Error() string {
	return fmt.Sprintf("%s is undefined: no node is of class %d", e.Measure.Title, e.Class)
}

// Of computes the measure. The threshold is that of [Predictions.Confusion], and matters only if the measure is Tuned.
// A measure that is undefined is an [UndefinedError].
func (m Measure) Of(p *Predictions, threshold float64) (float64, error) {
	switch {
	case m.decided != nil:
		if !m.Tuned {
			threshold = Even
		}
		return m.decided(p.Confusion(threshold)), nil
	case m.mean != nil:
		var sum float64
		for i := range p.Labels {
			sum += m.mean(p, i)
		}
		return sum / float64(len(p.Labels)), nil
	case m.ranking == nil:
		return 0, fmt.Errorf("there is no measure %q", m.Name)
	}
	var values []float64
	for class := range p.Classes() {
		score := p.logit
		switch {
		case p.Outputs > 1:
			score = func(node int) float64 { return p.probability(node, class) }
		case class == 0:
			continue // the ranking is that of class 1, backwards
		}
		value := m.ranking(p.ranked(class, score))
		if math.IsNaN(value) {
			return 0, &UndefinedError{m, p.absent()}
		}
		values = append(values, value)
	}
	return Mean(values), nil
}

// Threshold is the threshold at which the measure, if it is Tuned, is best for two classes: [Even], or a probability
// halfway between those of two nodes. Of several, it is the one nearest to Even. For other measures, more classes, and
// nodes of one class alone, it is Even.
func (m Measure) Threshold(p *Predictions) float64 {
	if !m.Tuned || p.Outputs > 1 {
		return Even
	}
	best, at := m.decided(p.Confusion(Even)), Even
	groups := p.ranked(1, func(node int) float64 { return p.probability(node, 1) })
	all := total(groups)
	if all[0] == 0 || all[1] == 0 {
		return Even
	}
	counts := [][]int{{0, int(all[0])}, {0, int(all[1])}} // all nodes are taken for class 1 at first
	for i := range groups[:len(groups)-1] {
		for class, n := range groups[i].count {
			counts[class][0] += int(n)
			counts[class][1] -= int(n)
		}
		low, high := groups[i].score, groups[i+1].score
		middle := low + (high-low)/2
		if middle >= high { // there is no number between them
			middle = low
		}
		value := m.decided(counts)
		if value > best || value == best && math.Abs(middle-Even) < math.Abs(at-Even) {
			best, at = value, middle
		}
	}
	return at
}

// At is the measure's threshold among those by measures' names, or [Even] if it has none there.
func (m Measure) At(thresholds map[string]float64) float64 {
	if at, tuned := thresholds[m.Name]; tuned {
		return at
	}
	return Even
}

// accuracy is the share of nodes that are taken for their class.
func accuracy(confusion [][]int) float64 {
	right, all := 0, 0
	for k, row := range confusion {
		right += row[k]
		for _, n := range row {
			all += n
		}
	}
	return float64(right) / float64(all)
}

// balancedAccuracy is the mean, over the classes that have nodes, of the share that is taken for the class.
func balancedAccuracy(confusion [][]int) float64 {
	var recalls []float64
	for k, row := range confusion {
		all := 0
		for _, n := range row {
			all += n
		}
		if all > 0 {
			recalls = append(recalls, float64(row[k])/float64(all))
		}
	}
	return Mean(recalls)
}

// macroF1 is the mean of 2 tp / (2 tp + fp + fn) over the classes that have nodes, or that nodes are taken for.
func macroF1(confusion [][]int) float64 {
	var scores []float64
	for k, row := range confusion {
		twice := 0
		for l, n := range row {
			twice += n + confusion[l][k]
		}
		if twice > 0 {
			scores = append(scores, float64(2*row[k])/float64(twice))
		}
	}
	return Mean(scores)
}

// rocAUC is the area under the receiver operating characteristic: the probability that a random node of the class
// scores higher than one of another, where equal scores count one half (Mann-Whitney). Pairs are counted in whole
// numbers.
func rocAUC(groups []group) float64 {
	// below counts lower scores of other classes, and wins 2 for each pair in which the node of the class is higher,
	// and 1 for equal scores.
	var wins, below int64
	for _, g := range groups {
		wins += g.count[1] * (2*below + g.count[0])
		below += g.count[0]
	}
	all := total(groups)
	return float64(wins) / (2 * float64(all[0]) * float64(all[1]))
}

// averagePrecision is Σ_n (R_n - R_{n-1}) P_n, with the precision and the recall of the nodes whose score is at least
// the n-th highest.
func averagePrecision(groups []group) (sum float64) {
	found, above := int64(0), int64(0)
	all := total(groups)
	for _, g := range slices.Backward(groups) {
		found += g.count[1]
		above += g.count[0] + g.count[1]
		sum += float64(g.count[1]) / float64(all[1]) * float64(found) / float64(above)
	}
	return sum
}

// logLoss is -log p of the node's class, from logits, so that it is exact where p rounds to 0 or to 1.
func logLoss(p *Predictions, node int) float64 {
	row, label := p.row(node), int(p.Labels[node])
	if p.Outputs == 1 {
		row = []float64{0, row[0]}
	}
	return floats.LogSumExp(row) - row[label]
}
