package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/data"
)

// Float stands for the types of scores and of representations: float32 and float64.
type Float interface{ ~float32 | ~float64 }

// Evaluate returns the metric of a task (data.Accuracy or data.ROCAUC) for logits, a row-major matrix with the shape
// [nodes, outputs]. For data.Accuracy, a node's prediction is the column of the largest logit in its row. For
// data.ROCAUC, a node's score for class 1 is its logit if there is one output. If there are two outputs, the score is
// the second logit minus the first. mask selects the nodes that count; a nil mask selects all nodes.
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

// Argmax returns, for each row of a row-major [n, columns] matrix x, the column of the largest value. If several
// columns have the largest value, it returns the first of them. A NaN in x is an error.
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

// Accuracy returns the share, from 0 to 1, of nodes whose prediction equals the label. Only the nodes in mask count; a
// nil mask selects all nodes. It is an error if no node is selected.
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

// ROCAUC returns the area under the receiver operating characteristic of scores for labels 0 and 1. The area equals the
// probability that a random node of class 1 scores higher than a random node of class 0, where equal scores count one
// half (Mann-Whitney; the same value as scikit-learn's roc_auc_score). The pairs of nodes are counted in whole numbers,
// without rounding. mask selects the nodes that count; a nil mask selects all nodes. It is an error if the selected
// nodes have only one class or labels other than 0 and 1, or if a score is NaN.
func ROCAUC[F Float](scores []F, labels []int32, mask []bool) (float64, error) {
	if err := checkLengths(len(scores), len(labels), mask); err != nil {
		return 0, err
	}
	var nodes []int
	var count [2]int64
	for i, l := range labels {
		if mask != nil && !mask[i] {
			continue
		}
		if l != 0 && l != 1 {
			return 0, fmt.Errorf("ROC-AUC needs the labels 0 and 1, but node %d has label %d; "+
				"measure accuracy instead", i, l)
		}
		if math.IsNaN(float64(scores[i])) {
			return 0, fmt.Errorf("the score of node %d is not a number; training has diverged", i)
		}
		count[l]++
		nodes = append(nodes, i)
	}
	if count[0] == 0 || count[1] == 0 {
		return 0, fmt.Errorf("ROC-AUC is undefined for %d nodes of class 0 and %d of class 1; "+
			"the selection needs both", count[0], count[1])
	}
	slices.SortFunc(nodes, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	// The loop goes through the nodes by rising score. Each step takes the nodes from start to end-1, which have equal
	// scores. below is the number of nodes of class 0 with lower scores. wins gets 2 for each pair in which the node of
	// class 1 has a higher score than the node of class 0, and 1 for each pair with equal scores.
	var wins, below int64
	for start := 0; start < len(nodes); {
		var group [2]int64
		end := start
		for ; end < len(nodes) && scores[nodes[end]] == scores[nodes[start]]; end++ {
			group[labels[nodes[end]]]++
		}
		wins += group[1] * (2*below + group[0])
		below += group[0]
		start = end
	}
	return float64(wins) / (2 * float64(count[0]) * float64(count[1])), nil
}

var errEmpty = fmt.Errorf("no nodes are selected; the mask is empty")

func checkLengths(values, labels int, mask []bool) error {
	if values != labels || mask != nil && len(mask) != labels {
		return fmt.Errorf("%d predictions, %d labels and %d mask entries; there must be one of each per node",
			values, labels, len(mask))
	}
	return nil
}
