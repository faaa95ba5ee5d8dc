package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/data"
)

// Confusion is the confusion matrix: entry [k][l] is the number of nodes of class k whose largest logit, in rows
// [nodes, classes], is l. A nil mask selects all nodes.
func Confusion[F Float](logits []F, classes int, labels []int32, mask []bool) ([][]int, error) {
	predictions, err := Argmax(logits, classes)
	if err != nil {
		return nil, err
	}
	if err := checkLengths(len(predictions), len(labels), mask); err != nil {
		return nil, err
	}
	counts := make([][]int, classes)
	for k := range counts {
		counts[k] = make([]int, classes)
	}
	for i, p := range predictions {
		if mask != nil && !mask[i] {
			continue
		}
		if l := labels[i]; l < 0 || int(l) >= classes {
			return nil, fmt.Errorf("node %d has label %d, but classes are numbered 0 to %d", i, l, classes-1)
		}
		counts[labels[i]][p]++
	}
	return counts, nil
}

// ROC has the points of the receiver operating characteristic, the curve above the area [ROCAUC]: the shares of the
// nodes of classes 0 and 1 with a score of at least a threshold. The thresholds are infinity, for (0, 0), and then all
// scores from the highest to the lowest. A nil mask selects all nodes.
func ROC[F Float](scores []F, labels []int32, mask []bool) (falsePositive, truePositive []float64, err error) {
	groups, count, err := ranked(scores, labels, mask)
	if err != nil {
		return nil, nil, err
	}
	falsePositive, truePositive = []float64{0}, []float64{0}
	var above [2]int64
	for _, g := range slices.Backward(groups) {
		above[0] += g[0]
		above[1] += g[1]
		falsePositive = append(falsePositive, float64(above[0])/float64(count[0]))
		truePositive = append(truePositive, float64(above[1])/float64(count[1]))
	}
	return falsePositive, truePositive, nil
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

// Float stands for the types of scores and of representations: float32 and float64.
type Float interface{ ~float32 | ~float64 }

// Evaluate is the metric data.Accuracy or data.ROCAUC of logits, [nodes, outputs]. The prediction is the largest logit.
// The score of class 1 is the only logit, or the second minus the first. A nil mask selects all nodes.
func Evaluate[F Float](task string, logits []F, outputs int, labels []int32, mask []bool) (float64, error) {
	if outputs < 1 || len(logits) != len(labels)*outputs {
		return 0, fmt.Errorf("%d logits for %d nodes of %d outputs each; they must be [nodes, outputs]",
			len(logits), len(labels), outputs)
	}
	switch task {
	case data.Accuracy:
		predictions, err := Argmax(logits, outputs)
		if err != nil {
			return 0, err
		}
		return Accuracy(predictions, labels, mask)
	case data.ROCAUC:
		if outputs > 2 {
			return 0, fmt.Errorf("ROC-AUC needs one or two outputs per node, there are %d; measure accuracy instead",
				outputs)
		}
		scores := make([]float64, len(labels))
		for i := range scores {
			scores[i] = float64(logits[i*outputs+outputs-1])
			if outputs == 2 {
				scores[i] -= float64(logits[2*i])
			}
		}
		return ROCAUC(scores, labels, mask)
	}
	return 0, fmt.Errorf("unknown task %q; known are %s and %s", task, data.Accuracy, data.ROCAUC)
}

// Argmax is the first largest column of each row of x, [n, columns]. NaN is an error.
func Argmax[F Float](x []F, columns int) ([]int32, error) {
	if columns < 1 || len(x)%columns != 0 {
		return nil, fmt.Errorf("%d values do not make rows of %d", len(x), columns)
	}
	out := make([]int32, len(x)/columns)
	for i := range out {
		row := x[i*columns : (i+1)*columns]
		for c, v := range row {
			if math.IsNaN(float64(v)) {
				return nil, fmt.Errorf("the output %d of node %d is not a number; training has diverged", c, i)
			}
			if v > row[out[i]] {
				out[i] = int32(c)
			}
		}
	}
	return out, nil
}

// Accuracy is the share, from 0 to 1, of nodes whose prediction equals the label. A nil mask selects all nodes; none is
// an error.
func Accuracy(predictions, labels []int32, mask []bool) (float64, error) {
	if err := checkLengths(len(predictions), len(labels), mask); err != nil {
		return 0, err
	}
	right, all := 0, 0
	for i, p := range predictions {
		if mask != nil && !mask[i] {
			continue
		}
		all++
		if p == labels[i] {
			right++
		}
	}
	if all == 0 {
		return 0, errEmpty
	}
	return float64(right) / float64(all), nil
}

// ROCAUC is the area under the receiver operating characteristic for labels 0 and 1: the probability that a random node
// of class 1 scores higher than one of class 0, where equal scores count one half (Mann-Whitney; as scikit-learn's
// roc_auc_score). Pairs are counted in whole numbers. A nil mask selects all nodes. A single class, other labels and
// NaN are errors.
func ROCAUC[F Float](scores []F, labels []int32, mask []bool) (float64, error) {
	groups, count, err := ranked(scores, labels, mask)
	if err != nil {
		return 0, err
	}
	// below counts lower scores of class 0, and wins 2 for each pair in which the node of class 1 is higher, and 1 for
	// equal scores.
	var wins, below int64
	for _, g := range groups {
		wins += g[1] * (2*below + g[0])
		below += g[0]
	}
	return float64(wins) / (2 * float64(count[0]) * float64(count[1])), nil
}

// ranked counts the nodes of classes 0 and 1 that the mask selects: for each score, from the lowest to the highest, and
// in all.
func ranked[F Float](scores []F, labels []int32, mask []bool) (groups [][2]int64, count [2]int64, err error) {
	if err := checkLengths(len(scores), len(labels), mask); err != nil {
		return nil, count, err
	}
	var nodes []int
	for i, l := range labels {
		if mask != nil && !mask[i] {
			continue
		}
		if l != 0 && l != 1 {
			return nil, count, fmt.Errorf("ROC-AUC needs the labels 0 and 1, but node %d has label %d; "+
				"measure accuracy instead", i, l)
		}
		if math.IsNaN(float64(scores[i])) {
			return nil, count, fmt.Errorf("the score of node %d is not a number; training has diverged", i)
		}
		count[l]++
		nodes = append(nodes, i)
	}
	if count[0] == 0 || count[1] == 0 {
		return nil, count, fmt.Errorf("ROC-AUC is undefined for %d nodes of class 0 and %d of class 1; "+
			"the selection needs both", count[0], count[1])
	}
	slices.SortFunc(nodes, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	for k, i := range nodes {
		if k == 0 || scores[i] != scores[nodes[k-1]] {
			groups = append(groups, [2]int64{})
		}
		groups[len(groups)-1][labels[i]]++
	}
	return groups, count, nil
}

var errEmpty = fmt.Errorf("no nodes are selected; the mask is empty")

func checkLengths(values, labels int, mask []bool) error {
	if values != labels || mask != nil && len(mask) != labels {
		return fmt.Errorf("%d predictions, %d labels and %d mask entries; there must be one of each per node",
			values, labels, len(mask))
	}
	return nil
}
