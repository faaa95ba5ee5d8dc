package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Confusion returns the confusion matrix of the nodes in mask: entry [k][l] is the number of nodes of class k that are
// predicted as class l. The prediction for a node is the column of the largest logit in its row. logits is a row-major
// matrix of shape [nodes, classes]. A nil mask selects all nodes.
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

// ROC returns the points of the receiver operating characteristic. The area below this curve is [ROCAUC]. Each point
// belongs to a threshold: falsePositive is the share of the nodes of class 0 whose score is at least the threshold, and
// truePositive is the same share for class 1. The first point is (0, 0). Then each distinct score, from the highest to
// the lowest, is the threshold of one point. The last point is (1, 1). Only the nodes in mask count; a nil mask selects
// all nodes.
func ROC[F Float](scores []F, labels []int32, mask []bool) (falsePositive, truePositive []float64, err error) {
	if _, err := ROCAUC(scores, labels, mask); err != nil {
		return nil, nil, err // ROCAUC has checked the arguments
	}
	var nodes []int
	var count, above [2]float64
	for i, l := range labels {
		if mask == nil || mask[i] {
			nodes = append(nodes, i)
			count[l]++
		}
	}
	slices.SortFunc(nodes, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	falsePositive, truePositive = []float64{0}, []float64{0}
	for k, i := range nodes {
		above[labels[i]]++
		if k+1 == len(nodes) || scores[nodes[k+1]] != scores[i] {
			falsePositive = append(falsePositive, above[0]/count[0])
			truePositive = append(truePositive, above[1]/count[1])
		}
	}
	return falsePositive, truePositive, nil
}

// Thin drops points of a rising curve from (0, 0) to (1, 1), such as the curve that [ROC] returns. It keeps a point if
// x + y is larger by at least 1/n than at the last point that was kept. The last point of the curve is always kept. A
// picture of the thinned curve looks the same, but has fewer points.
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
