package solve

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/gradient"
)

// MatrixInverse is A^-1 for a symmetric positive definite matrix A, [d, d]. It has a gradient: for the cotangent V of
// A^-1, the cotangent of A is -A^-T V A^-T. It is for d up to some dozens, such as Gram matrices H^T H + b I, since
// the program grows by a handful of d x d operations for each of the d columns.
//
// With S = diag(A)^-1/2, the matrix S A S has ones on its diagonal; it is inverted by Gauss-Jordan elimination in
// place. Positive definite matrices need no pivoting: pivots are in (0, 1], so that no large pivot hides a small
// difference.
func MatrixInverse(a *Node) *Node {
	dims := a.Shape().Dimensions
	if len(dims) != 2 || dims[0] != dims[1] {
		panic(fmt.Errorf("solve: MatrixInverse needs a square matrix, not %s", a.Shape()))
	}
	y := inverse(StopGradient(a))
	return gradient.Custom(y, []*Node{a}, func(v *Node) []*Node {
		t := Transpose(y, 0, 1)
		return []*Node{Neg(Dot(Dot(t, v).Product(), t).Product())}
	})
}

func inverse(a *Node) *Node {
	d, g := a.Shape().Dimensions[0], a.Graph()
	eye := ConvertDType(Equal(Iota(g, a.Shape(), 0), Iota(g, a.Shape(), 1)), a.DType())
	s := Reciprocal(Sqrt(ReduceAndKeep(Mul(a, eye), ReduceSum, 1)))
	both := Mul(s, Transpose(s, 0, 1))
	x := Mul(a, both)
	for k := range d {
		one := AxisRange(k, k+1)
		row, column, pivot := Slice(x, one), Slice(x, AxisRange(), one), Slice(x, one, one)
		// Row k becomes row/pivot, column k -column/pivot, x_kk 1/pivot; any other x_ij becomes x_ij - x_ik x_kj/pivot.
		left, above := Sub(column, Slice(eye, AxisRange(), one)), Add(row, Slice(eye, one))
		x = Sub(x, Mul(left, Div(above, pivot)))
	}
	return Mul(x, both)
}
