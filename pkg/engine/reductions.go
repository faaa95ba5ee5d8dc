package engine

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// Reductions, such as the sum over an axis, inside loops. XLA combines two numbers by a function, which go-xla (v0.4.5)
// makes once per graph, in the function that uses it first; others, such as the body of a loop, cannot use it. Inside
// loops, the sum over an axis of a matrix is therefore a product with ones, and any other reduction combines the two
// halves of the axis entry by entry, again and again, until one entry is left.

type operation func(lhs, rhs compute.Value) (compute.Value, error)

type reduction func(x compute.Value, axes ...int) (compute.Value, error)

// reduce is native outside loops, where it must not fail; inside, it is [function.fold] by combine.
func (f *function) reduce(x compute.Value, axes []int, native reduction, combine operation) (compute.Value, error) {
	if f.closure == 0 {
		return native(x, axes...)
	}
	shape, err := f.Function.Shape(x)
	if err != nil {
		return nil, err
	}
	folded := make([]bool, shape.Rank())
	for _, a := range axes {
		folded[a] = true
	}
	var rest []int
	for a, size := range shape.Dimensions {
		if len(axes) > 0 && !folded[a] {
			rest = append(rest, size)
			continue
		}
		if x, err = f.fold(x, a, combine); err != nil {
			return nil, err
		}
	}
	return f.Function.Reshape(x, rest...)
}

// fold combines the two halves of an axis entry by entry, again and again, and the last entry of an odd length at the
// end.
func (f *function) fold(x compute.Value, axis int, combine operation) (compute.Value, error) {
	shape, err := f.Function.Shape(x)
	if err != nil {
		return nil, err
	}
	n := shape.Dimensions[axis]
	if n == 0 {
		return nil, fmt.Errorf("axis %d of %s has no entries: there is nothing to reduce in the body of a loop",
			axis, shape)
	}
	part := func(from, to int) (compute.Value, error) {
		starts, limits := make([]int, shape.Rank()), slices.Clone(shape.Dimensions)
		starts[axis], limits[axis] = from, to
		return f.Function.Slice(x, starts, limits, slices.Repeat([]int{1}, shape.Rank()))
	}
	var odd compute.Value // the entries left over by all rounds so far, combined into one
	for ; n > 1; n /= 2 {
		left, err := part(0, n/2)
		if err != nil {
			return nil, err
		}
		right, err := part(n/2, n/2*2)
		if err != nil {
			return nil, err
		}
		if n%2 == 1 {
			last, err := part(n-1, n)
			if err == nil && odd != nil {
				last, err = combine(odd, last)
			}
			if err != nil {
				return nil, err
			}
			odd = last
		}
		if x, err = combine(left, right); err != nil {
			return nil, err
		}
	}
	if odd == nil {
		return x, nil
	}
	return combine(x, odd)
}

// ReduceSum sums over an axis of a matrix by a product with ones. Before it, XLA on the CPU stores x once for all that
// read it; other ways to sum compute x several times (docs/notes/2026-11-compiler.md).
func (f *function) ReduceSum(x compute.Value, axes ...int) (compute.Value, error) {
	shape, err := f.Function.Shape(x)
	if err != nil {
		return nil, err
	}
	if f.closure == 0 || shape.Rank() != 2 || len(axes) != 1 || shape.DType != dtypes.Float32 {
		return f.reduce(x, axes, f.Function.ReduceSum, f.Function.Add)
	}
	one, err := f.Function.Constant([]float32{1})
	if err != nil {
		return nil, err
	}
	ones, err := f.Function.BroadcastInDim(one, shapes.Make(shape.DType, shape.Dimensions[axes[0]]), nil)
	if err != nil {
		return nil, err
	}
	return f.Function.DotGeneral(x, axes, nil, ones, []int{0}, nil, compute.DotGeneralConfig{})
}

func (f *function) ReduceProduct(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(x, axes, f.Function.ReduceProduct, f.Function.Mul)
}

func (f *function) ReduceMax(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(x, axes, f.Function.ReduceMax, f.Function.Max)
}

func (f *function) ReduceMin(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(x, axes, f.Function.ReduceMin, f.Function.Min)
}

func (f *function) ReduceLogicalAnd(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(x, axes, f.Function.ReduceLogicalAnd, f.Function.LogicalAnd)
}

func (f *function) ReduceLogicalOr(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(x, axes, f.Function.ReduceLogicalOr, f.Function.LogicalOr)
}
