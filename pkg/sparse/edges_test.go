package sparse_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// operation holds an operation of [sparse.Edges], as the function edges, and the same operation on dense matrices, as
// the function dense. Both functions get values v of the edges, features g of the targets, [rows, 4], and features x of
// the sources, [columns, 4]. v has two columns. For the function edges, v has a row for each place. For the function
// dense, v has a row for each edge. The function dense also gets the matrices target and source of [patternCase].
type operation struct {
	edges func(e sparse.Edges, v, g, x *Node) *Node
	dense func(target, source, v, g, x *Node) *Node
	byRow bool // the result has one row per target instead of one per edge
}

// at returns a matrix with a row for each edge: the row of x that belongs to the edge's target or to its source. The
// argument end says which: it is the matrix target or the matrix source of [patternCase].
func at(end, x *Node) *Node { return Dot(Transpose(end, 0, 1), x).Product() }

// byHead multiplies each row of x by the weights in the same row of w. w is [edges, heads], and x is [edges, heads*d],
// with its columns head by head. The weight of a head multiplies the d columns of this head.
func byHead(w, x *Node) *Node {
	heads, d := w.Shape().Dimensions[1], x.Shape().Dimensions[1]
	w = BroadcastToDims(Reshape(w, -1, heads, 1), w.Shape().Dimensions[0], heads, d/heads)
	return Mul(Reshape(w, -1, d), x)
}

// largest is max_j v_ij for every target i. v is [edges, 1], and target is the matrix target of [patternCase]. The
// result is [rows, 1], and is 0 for targets without edges.
func largest(target, v *Node) *Node {
	row := BroadcastToShape(Reshape(v, 1, -1), target.Shape())
	is := GreaterThan(target, ZerosLike(target))
	top := ReduceAndKeep(Where(is, row, MulScalar(OnesLike(row), -1e30)), ReduceMax, 1)
	return Where(LessThan(top, MulScalar(OnesLike(top), -1e29)), ZerosLike(top), top)
}

func columnsOf(v *Node, f func(v *Node) *Node) *Node {
	return Concatenate([]*Node{f(Slice(v, AxisRange(), AxisElem(0))), f(Slice(v, AxisRange(), AxisElem(1)))}, 1)
}

var operations = map[string]operation{
	"Sources": {func(e sparse.Edges, _, _, x *Node) *Node { return e.Sources(x) },
		func(_, source, _, _, x *Node) *Node { return at(source, x) }, false},
	"Targets": {func(e sparse.Edges, _, g, _ *Node) *Node { return e.Targets(g) },
		func(target, _, _, g, _ *Node) *Node { return at(target, g) }, false},
	"Sum": {func(e sparse.Edges, v, _, _ *Node) *Node { return e.Sum(v) },
		func(target, _, v, _, _ *Node) *Node { return Dot(target, v).Product() }, true},
	"Mean": {func(e sparse.Edges, v, _, _ *Node) *Node { return e.Mean(v) },
		func(target, _, v, _, _ *Node) *Node {
			sum := Dot(target, v).Product()
			return Div(sum, BroadcastToShape(MaxScalar(ReduceAndKeep(target, ReduceSum, 1), 1), sum.Shape()))
		}, true},
	"Max": {func(e sparse.Edges, v, _, _ *Node) *Node { return e.Max(v) },
		func(target, _, v, _, _ *Node) *Node {
			return columnsOf(v, func(v *Node) *Node { return largest(target, v) })
		}, true},
	"Softmax": {func(e sparse.Edges, v, _, _ *Node) *Node { return e.Softmax(v) },
		func(target, _, v, _, _ *Node) *Node {
			return columnsOf(v, func(v *Node) *Node {
				p := Exp(Sub(v, at(target, StopGradient(largest(target, v)))))
				return Div(p, at(target, Dot(target, p).Product()))
			})
		}, false},
	"Product": {func(e sparse.Edges, v, _, x *Node) *Node { return e.Product(v, x) },
		func(target, source, v, _, x *Node) *Node { return Dot(target, byHead(v, at(source, x))).Product() }, true},
	"Dots": {func(e sparse.Edges, _, g, x *Node) *Node { return e.Dots(g, x, 2) },
		func(target, source, _, g, x *Node) *Node {
			return ReduceSum(Reshape(Mul(at(target, g), at(source, x)), -1, 2, 2), 2)
		}, false},
	"Attend": {func(e sparse.Edges, v, _, x *Node) *Node { return e.Attend(v, x) },
		func(target, source, v, _, x *Node) *Node {
			p := columnsOf(v, func(v *Node) *Node {
				p := Exp(Sub(v, at(target, StopGradient(largest(target, v)))))
				return Div(p, at(target, Dot(target, p).Product()))
			})
			return Dot(target, byHead(p, at(source, x))).Product()
		}, true},
	"Degree": {func(e sparse.Edges, _, _, _ *Node) *Node { return e.Degree() },
		func(target, _, _, _, _ *Node) *Node { return ReduceAndKeep(target, ReduceSum, 1) }, true},
}

// For every operation of [sparse.Edges], the result and the cotangents of the arguments are compared with those of the
// same operation on dense matrices. GoMLX computes the derivatives of the dense operation. The two must be equal, up to
// rounding.
func TestOperationsEqualDense(t *testing.T) {
	names := slices.Sorted(maps.Keys(operations))
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, c := range patterns(e) {
			for i, off := range c.compare(t, e, names) {
				if !(off < 3e-5) {
					t.Errorf("%s of %s: number %d of result and cotangents of v, g, x is off by %.2g",
						names[i/4], name, i%4, off)
				}
			}
		}
	})
}

// compare computes the named operations and the cotangents of their arguments, once by package sparse and once on dense
// matrices. It returns the differences, four for each operation: one for its result, and one each for the cotangents of
// v, g and x. The values of padding in v are large, so that the result is wrong if an operation reads them.
func (c patternCase) compare(t *testing.T, e *engine.Engine, names []string) (off []float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	v := normal(rng, c.edges*2)
	placed := make([]float32, 2*len(c.edge))
	for place, edge := range c.edge {
		if edge >= 0 {
			copy(placed[2*place:2*place+2], v[2*edge:2*edge+2])
		} else {
			placed[2*place], placed[2*place+1] = 1e6, -1e6
		}
	}
	out := call(t, e, c.p.Tensors(), func(in, arrays []*Node) (all []*Node) {
		target, source, v, placed, g, x, place := in[0], in[1], in[2], in[3], in[4], in[5], in[6]
		both := func(y *Node, inputs ...*Node) []*Node {
			loss := Add(ReduceAllSum(Square(Sin(y))), sumOf(inputs))
			return append([]*Node{y}, Gradient(loss, inputs...)...)
		}
		for _, name := range names {
			o := operations[name]
			ours := o.edges(c.p.On(arrays), placed, g, x)
			if !o.byRow {
				ours = Gather(ours, place)
			}
			a, b := both(ours, placed, g, x), both(o.dense(target, source, v, g, x), v, g, x)
			a[1] = Gather(a[1], place)
			for i := range a {
				all = append(all, a[i], b[i])
			}
		}
		return all
	}, matrix(c.target, c.rows, c.edges), matrix(c.source, c.columns, c.edges), matrix(v, c.edges, 2),
		matrix(placed, len(c.edge), 2), matrix(normal(rng, c.rows*4), c.rows, 4),
		matrix(normal(rng, c.columns*4), c.columns, 4), matrix(c.place, c.edges, 1))
	for i := 0; i < len(out); i += 2 {
		off = append(off, farthest(flat(out[i]), flat(out[i+1])))
	}
	return off
}

// sumOf is the sum of all inputs. It is added to the loss, so that the loss depends on every input. GoMLX computes no
// gradient for an input on which the loss does not depend.
func sumOf(inputs []*Node) *Node {
	sum := ReduceAllSum(inputs[0])
	for _, x := range inputs[1:] {
		sum = Add(sum, ReduceAllSum(x))
	}
	return sum
}

// A gradient is compared with a central difference. The loss is a function of a layer of graph attention, in double
// precision. The features x of sources and g of targets are moved in a random direction. The derivative of the loss in
// this direction, computed from the gradient, must equal the central difference of the loss.
func TestGradientEqualsDifferences(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, name := range []string{"hub of three levels", "heads", "directed with heads", "two sets, ordered",
			"heads, for GPUs", "directed with heads, for GPUs"} {
			c, is := patterns(e)[name]
			if !is {
				continue
			}
			loss := func(x, g *Node, arrays []*Node) *Node {
				edges := c.p.On(arrays)
				ends := Add(edges.Sources(Slice(x, AxisRange(), AxisElem(0))),
					edges.Targets(Slice(g, AxisRange(), AxisElem(1))))
				scores := Add(Sin(ends), edges.Dots(g, x, 1))
				y := edges.Product(edges.Softmax(scores), x)
				return ReduceAllSum(Sin(Add(y, edges.Mean(Tanh(edges.Sources(x))))))
			}
			rng := rand.New(rand.NewPCG(3, 3))
			draw := func(n int) *tensors.Tensor {
				values := make([]float64, n*2)
				for i := range values {
					values[i] = rng.NormFloat64()
				}
				return matrix(values, n, 2)
			}
			const h = 1e-4
			out := call(t, e, c.p.Tensors(), func(in, arrays []*Node) []*Node {
				x, g, dx, dg := in[0], in[1], in[2], in[3]
				moved := func(by float64) *Node {
					return loss(Add(x, MulScalar(dx, by)), Add(g, MulScalar(dg, by)), arrays)
				}
				grads := Gradient(loss(x, g, arrays), x, g)
				slope := Add(ReduceAllSum(Mul(grads[0], dx)), ReduceAllSum(Mul(grads[1], dg)))
				return []*Node{slope, DivScalar(Sub(moved(h), moved(-h)), 2*h)}
			}, draw(c.columns), draw(c.rows), draw(c.columns), draw(c.rows))
			got, want := tensors.ToScalar[float64](out[0]), tensors.ToScalar[float64](out[1])
			if !(math.Abs(got-want) < 1e-5*max(1, math.Abs(want))) {
				t.Errorf("%s: the gradient in a direction is %.9g, differences say %.9g", name, got, want)
			}
		}
	})
}
