package solve_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
)

// ordinary is the function h of the block [dense], written in operations of GoMLX.
func ordinary(x *Node, w []*Node) *Node {
	return Tanh(Add(Dot(x, w[0]).Product(), ExpandLeftToRank(w[1], 2)))
}

// gated is a function h with operations that may fail in the body of a loop, such as MulScalar and Softmax. They use
// scalar constants, and GoMLX uses a constant of one loop again in other loops, where it is not allowed.
// [loop.Differentiate] makes these operations work. To test this, the tests use gated in several loops of one program.
func gated(x *Node, w []*Node) *Node {
	g := x.Graph()
	many := make([]float32, rows*width*4)
	for i := range many {
		many[i] = float32(i%7) / 7
	}
	noise := Slice(Const(g, many), AxisRange(0, rows*width))
	attention := Softmax(MulScalar(x, 0.5), -1)
	count := ConvertDType(Iota(g, noise.Shape(), 0), x.DType())
	shift := Reshape(Sin(Add(noise, count)), rows, width)
	mean := ReduceAndKeep(Mul(attention, x), ReduceMean, 0)
	top := ReduceAndKeep(x, ReduceMax, -1)
	u := Add(Dot(x, w[0]).Product(), Add(ExpandLeftToRank(w[1], 2), AddScalar(MulScalar(shift, 0.1), 1)))
	return MulScalar(Add(Mul(Sigmoid(u), mean), MulScalar(Mul(Tanh(u), Sigmoid(top)), 0.5)), 0.5)
}

// tanhVJP are the vector-Jacobian products of the function ordinary, written by hand.
func tanhVJP(x, v *Node, w []*Node) (*Node, []*Node) {
	d := dense{}
	u, tape := d.Linearize(x, w)
	q := d.Gate(u, v, w)
	dx, _ := d.PullX(q, tape, w)
	return dx, d.PullW(q, nil, tape, w)
}

// functionBlocks returns blocks that are made by [solve.FromFunction] or [solve.FromVJP], each with its function h.
func functionBlocks() map[string]struct {
	block layer
	h     func(x *Node, w []*Node) *Node
} {
	type entry = struct {
		block layer
		h     func(x *Node, w []*Node) *Node
	}
	return map[string]entry{
		"h alone": {solve.FromFunction(ordinary), ordinary},
		"by hand": {dense{}, ordinary},
		"gated":   {solve.FromFunction(gated), gated},
	}
}

func d(x *Node, w []*Node) *Node { return dense{}.Activate(dense{}.Preactivation(x, w), w) }

// For blocks made from functions, chains have the same results and gradients as chains written out without loops.
// Forward chains are compared with layers that are applied one by one. Reverse chains, with implicit and with unrolled
// gradients, are compared with iterations that are written out. All gradients equal finite differences.
func TestFunctionBlocks(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, b := range functionBlocks() {
			args := problem(41)
			o := solve.Options{Tolerance: 1e-7, MaxIterations: 100, Order: 2}
			forward := func(x *Node, w []*Node) (*Node, []*Node) { return solve.Forward(b.block, x, w, 3), nil }
			plain := func(x *Node, w []*Node) (*Node, []*Node) {
				for range 3 {
					x = Add(x, b.h(x, w))
				}
				return x, nil
			}
			reverse := func(x *Node, w []*Node) (*Node, []*Node) {
				y := invert(b.block, x, w, 3, o)
				return y, nil
			}
			inline := func(x *Node, w []*Node) (*Node, []*Node) { // 3 layers of 40 iterations, without a loop
				for range 3 {
					y := x
					for range 40 {
						x = Sub(y, b.h(x, w))
					}
				}
				return x, nil
			}
			iterations := func(x *Node, w []*Node) (*Node, []*Node) {
				y := invert(b.block, x, w, 3, unrolled(o))
				return y, nil
			}
			for _, c := range []struct {
				what      string
				got, want chain
			}{{"forward", forward, plain}, {"reverse", reverse, inline}, {"unrolled", iterations, inline}} {
				got, want := run(t, e, args, c.got), run(t, e, args, c.want)
				for i, what := range []string{"result", "dx", "dW", "db"} {
					if d := distance(got[i], want[i]); !(d < 3e-5) {
						t.Errorf("%s, %s: %s differs by %.2g", name, c.what, what, d)
					}
				}
				if slope, numeric := derivatives(t, e, c.got); !(math.Abs(numeric-slope) <=
					3e-3*max(1, math.Abs(slope))) {
					t.Errorf("%s, %s: derivative %.6f, finite difference %.6f", name, c.what, slope, numeric)
				}
			}
		}
	})
}

// A function that uses a forbidden operation, or that returns a wrong shape, is refused with an error that says why.
func TestFunctionsRefused(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	for want, h := range map[string]func(x *Node, w []*Node) *Node{
		"a loop cannot be in": func(x *Node, _ []*Node) *Node {
			return loop.Repeat(loop.Int(x.Graph(), 3), x, x, func(_, x, _ *Node) *Node { return Add(x, x) })
		},
		"give its vector-Jacobian product by hand": func(x *Node, _ []*Node) *Node {
			return Gather(x, Const(x.Graph(), [][]int32{{1}, {0}, {3}, {2}, {4}}))
		},
		"return a node of shape": func(x *Node, _ []*Node) *Node { return ReduceAllSum(x) },
	} {
		err := exceptions.TryCatch[error](func() {
			args := problem(42)
			x := Parameter(NewGraph(e.Backend, fmt.Sprint("refused ", want)), "x", args[0].Shape())
			y := invert(solve.FromFunction(h), x, nil, 3, tight)
			Gradient(ReduceAllSum(y), x)
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// [solve.Scan] has the results and gradients of layers applied one by one. In this test, the layers share some weights
// and have others of their own, among them an integer. There are three cases: the scan keeps tapes; the scan keeps no
// tapes, and evaluates the layers again in the backward pass; the derivative is written by hand ([solve.ScanVJP]).
func TestScan(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		step := func(l, x *Node, own, shared []*Node) *Node {
			scale := DivScalar(ConvertDType(Add(l, Reshape(own[0])), x.DType()), 10)
			return Add(MulScalar(x, 0.5),
				Mul(Tanh(Add(Dot(x, own[1]).Product(), ExpandLeftToRank(shared[0], 2))), scale))
		}
		numbers := func(g *Graph) *Node { return Const(g, []int32{3, 1, 4, 1, 5}) }
		inline := func(x *Node, w []*Node) (*Node, []*Node) {
			for l := range depth {
				own := []*Node{Reshape(Slice(numbers(x.Graph()), AxisElem(l))), slice(w, l)[0]}
				x = step(Const(x.Graph(), int32(l)), x, own, w[1:])
			}
			return x, nil
		}
		vjp := func(l, x, v *Node, own, shared []*Node) (*Node, []*Node, []*Node) {
			n := ConvertDType(Add(l, own[0]), x.DType())
			scaled := loop.Scale(v, Mul(n, loop.Float(x, 0.1)))
			dx, dw := tanhVJP(x, scaled, []*Node{own[1], shared[0]})
			return Add(dx, loop.Scale(v, loop.Float(v, 0.5))), []*Node{nil, dw[0]}, dw[1:]
		}
		scaled := func(l, x *Node, own, shared []*Node) *Node {
			n := ConvertDType(Add(l, own[0]), x.DType())
			h := d(x, []*Node{own[1], shared[0]})
			return Add(loop.Scale(x, loop.Float(x, 0.5)), loop.Scale(h, Mul(n, loop.Float(x, 0.1))))
		}
		args := layersProblem(43)
		args[2] = problem(43)[2]
		want := run(t, e, args, inline)
		defer func(bytes int64) { *solve.KeepTapes = bytes }(*solve.KeepTapes)
		scan := func(keep int64) chain {
			return func(x *Node, w []*Node) (*Node, []*Node) {
				*solve.KeepTapes = keep
				return solve.Scan(step, x, []*Node{numbers(x.Graph()), w[0]}, w[1:], depth), nil
			}
		}
		for name, c := range map[string]chain{
			"tapes kept":      scan(1 << 20),
			"evaluated again": scan(0),
			"by hand": func(x *Node, w []*Node) (*Node, []*Node) {
				return solve.ScanVJP(scaled, vjp, x, []*Node{numbers(x.Graph()), w[0]}, w[1:], depth), nil
			},
		} {
			got := run(t, e, args, c)
			for i, what := range []string{"result", "dx", "dW", "db"} {
				if d := distance(got[i], want[i]); !(d < 1e-5) {
					t.Errorf("%s: %s differs by %.2g", name, what, d)
				}
			}
		}
	})
}

// Weights, states and derivatives that a scan cannot use are refused with an error that says why.
func TestScanRefuses(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	step := func(_, x *Node, _, _ []*Node) *Node { return x }
	vjp := func(_, x, v *Node, _, _ []*Node) (*Node, []*Node, []*Node) { return v, nil, nil }
	for want, scan := range map[string]func(x, w *Node) *Node{
		"stack one weight per layer": func(x, w *Node) *Node { return solve.Scan(step, x, []*Node{w}, nil, width+1) },
		"floating point": func(x, w *Node) *Node {
			return solve.Scan(step, ConvertDType(x, dtypes.Int32), nil, nil, 2)
		},
		`lacks the cotangent of weight "Own[0]"`: func(x, w *Node) *Node {
			return solve.ScanVJP(step, vjp, x, []*Node{w}, nil, width)
		},
		"a step of the scan has shape": func(x, w *Node) *Node {
			return solve.Scan(func(_, x *Node, _, _ []*Node) *Node { return Transpose(x, 0, 1) },
				x, nil, []*Node{w}, 2)
		},
	} {
		err := exceptions.TryCatch[error](func() {
			args, g := problem(44), NewGraph(e.Backend, "refused")
			x, w := Parameter(g, "x", args[0].Shape()), Parameter(g, "w", args[1].Shape())
			Gradient(ReduceAllSum(scan(x, w)), x)
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// If neither the tapes nor all states may be kept, a scan keeps checkpoints. Its result and gradients then equal those
// of layers written out one by one. States may have any shape; in this test they are vectors.
func TestScanCheckpoints(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	defer func(bytes int64) { *solve.KeepTapes = bytes }(*solve.KeepTapes)
	*solve.KeepTapes = 0
	const n, layers = 1 << 20, 20
	if solve.Segment(4*n, layers) == 1 {
		t.Fatal("all states are kept: take more layers")
	}
	exec, err := NewExec(e.Backend, func(x, w *Node) []*Node {
		step := func(_, x *Node, own, _ []*Node) *Node { return Mul(x, AddScalar(Mul(x, own[0]), 1)) }
		y := solve.Scan(step, x, []*Node{w}, nil, layers)
		z := x
		for l := range layers {
			z = Mul(z, AddScalar(Mul(z, Reshape(Slice(w, AxisElem(l)))), 1))
		}
		var out []*Node
		for _, y := range []*Node{y, z} {
			out = append(append(out, y), Gradient(ReduceAllMean(y), x, w)...)
		}
		return out
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	w := make([]float32, layers)
	for l := range w {
		w[l] = float32(l%3)/50 - 0.015
	}
	out, err := exec.Call(tensors.FromFlatDataAndDimensions(ramp(n), n), tensors.FromFlatDataAndDimensions(w, layers))
	if err != nil {
		t.Fatal(err)
	}
	for i, what := range []string{"result", "dx", "dw"} {
		got, want := tensors.MustCopyFlatData[float32](out[i]), tensors.MustCopyFlatData[float32](out[3+i])
		if d := distance(got, want); !(d < 1e-5) {
			t.Errorf("%s differs by %.2g", what, d)
		}
	}
}
