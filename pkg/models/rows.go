package models

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// EncodeRows returns S W^T + b, [n, out], for a matrix S, [n, n], such as the adjacency matrix. This is a linear layer
// that reads row i of S in place of the features of node i. S is the Go argument a. W, [out, n], and b, [out], are
// parameters. The columns of S and of W are in the order in which the dataset numbers the nodes. The rows of S are in
// the order that [Network.Prepare] returns. Models make S by [sparse.NewRectangular].
func (b *Builder) EncodeRows(name string, a sparse.Operator, out int) *Node {
	n := len(b.Order)
	limit := 1 / math.Sqrt(float64(n))
	w := b.Param(Param{Name: name + ".weight", Shape: []int{out, n}, Limit: limit, Nodes: true})
	bias := b.Param(Param{Name: name + ".bias", Shape: []int{out}, Limit: limit})
	return Add(a.Product(Transpose(w, 0, 1)), ExpandLeftToRank(bias, 2))
}

// unit scales each row to length 1, as torch.nn.functional.normalize does. Rows of zeros are not changed.
func unit(x *Node) *Node {
	return Div(x, Sqrt(MaxScalar(ReduceAndKeep(Square(x), ReduceSum, 1), 1e-24)))
}

// FromScores turns scores for the classes, [n, Classes], into logits, [n, Outputs]. If there are more than two classes,
// the logits are the scores. For two classes, each node has a single logit: the second score minus the first. The
// logistic function of this logit is the softmax probability of the second class.
func (b *Builder) FromScores(scores *Node) *Node {
	if b.Outputs == b.Classes {
		return scores
	}
	return Sub(Slice(scores, AxisRange(), AxisRange(1, 2)), Slice(scores, AxisRange(), AxisRange(0, 1)))
}

// ridgeInverse returns (S + diag(r))^-1 for a matrix S, [k, k], that is symmetric and positive semidefinite. S is the
// Go argument a, and r is the Go argument ridge: a row [1, k] of positive numbers, or one positive number for the whole
// diagonal.
func ridgeInverse(a, ridge *Node) *Node {
	eye := ConvertDType(Equal(Iota(a.Graph(), a.Shape(), 0), Iota(a.Graph(), a.Shape(), 1)), a.DType())
	return solve.MatrixInverse(Add(a, Mul(eye, ridge)))
}
