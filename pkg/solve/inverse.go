package solve

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// MatrixInverse is A^-1 for a symmetric positive definite matrix A, [d, d]. It is differentiable: if V is the cotangent
// of A^-1, that of A is -A^-T V A^-T. It is meant for d up to a few dozen: each column takes several d x d operations.
//
// With S = diag(A)^-1/2, S A S has ones on its diagonal; it is inverted by Gauss-Jordan elimination, and A^-1 is
// S (S A S)^-1 S. All pivots are in (0, 1], and small numbers are not lost in sums with large ones.
func MatrixInverse(a *Node) *Node {
	dims := a.Shape().Dimensions
	if len(dims) != 2 || dims[0] != dims[1] {
		panic(fmt.Errorf("solve: MatrixInverse needs a square matrix, not %s", a.Shape()))
	}
	d, g, fixed := dims[0], a.Graph(), StopGradient(a)
	eye := ConvertDType(Equal(Iota(g, a.Shape(), 0), Iota(g, a.Shape(), 1)), a.DType())
	s := Reciprocal(Sqrt(ReduceAndKeep(Mul(fixed, eye), ReduceSum, 1)))
	both := Mul(s, Transpose(s, 0, 1))
	x := Mul(fixed, both)
	for k := range d {
		one := AxisRange(k, k+1)
		row, column, pivot := Slice(x, one), Slice(x, AxisRange(), one), Slice(x, one, one)
		// The pivot x_kk becomes 1/x_kk, the rest of row k is divided by it, that of column k by minus it, and any
		// other x_ij becomes x_ij - x_ik x_kj / x_kk.
		left, above := Sub(column, Slice(eye, AxisRange(), one)), Add(row, Slice(eye, one))
		x = Sub(x, Mul(left, Div(above, pivot)))
	}
	y := Mul(x, both)
	return loop.Custom(y, []*Node{a}, func(v *Node) []*Node {
		t := Transpose(y, 0, 1)
		return []*Node{Neg(Dot(Dot(t, v).Product(), t).Product())}
	})
}
