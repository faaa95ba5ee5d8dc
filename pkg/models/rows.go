package models

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// EncodeRows is a linear layer for a matrix A, [n, n], such as the adjacency, in place of the node features. It returns
// A W^T + b, [n, out], where W, [out, n], and b are parameters, and A is the argument a. The columns of A and of W are
// in the order in which the dataset numbers the nodes. The rows of A are in the model's order: see
// [sparse.NewRectangular].
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

// FromScores turns scores for the classes, [n, Classes], into logits, [n, Outputs]. For two classes, the one logit is
// the second score minus the first: its logistic function is the softmax probability of the second class.
func (b *Builder) FromScores(scores *Node) *Node {
	if b.Outputs == b.Classes {
		return scores
	}
	return Sub(Slice(scores, AxisRange(), AxisRange(1, 2)), Slice(scores, AxisRange(), AxisRange(0, 1)))
}

// ridgeInverse is (A + diag(ridge))^-1 for a symmetric matrix A, [k, k]. ridge is positive, and either a row [1, k] or
// a scalar.
func ridgeInverse(a, ridge *Node) *Node {
	eye := ConvertDType(Equal(Iota(a.Graph(), a.Shape(), 0), Iota(a.Graph(), a.Shape(), 1)), a.DType())
	return solve.MatrixInverse(Add(a, Mul(eye, ridge)))
}
