package loop_test

import (
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/loop"
)

type pair struct{ older, newer *Node }

// numbers is the state of a loop. It has a field of every kind that a state may have: a struct, a slice, a pointer, and
// a nil node.
type numbers struct {
	pair
	sums   []*Node
	hint   *pair
	absent *Node
}

// A loop computes Fibonacci numbers, their sum and their count. The test checks that each field of the state has the
// right value after the loop, that nil fields stay nil inside the loop, and that the loop does not change the Go value
// that was its first state.
func TestStateHasNames(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		exec, err := NewExec(e.Backend, func(one *Node) []*Node {
			zero := loop.Zeros(one)
			start := numbers{pair{zero, one}, []*Node{zero, zero}, &pair{older: one}, nil}
			end := loop.Repeat(loop.Int(one.Graph(), 10), start, pair{newer: one},
				func(_ *Node, s numbers, r pair) numbers {
					if s.absent != nil || s.hint.newer != nil || r.older != nil {
						t.Error("what is nil before the loop is not nil in it")
					}
					s.sums[0], s.sums[1] = Add(s.sums[0], s.newer), Add(s.sums[1], r.newer)
					s.hint.older = s.newer
					s.pair = pair{s.newer, Add(s.older, s.newer)}
					return s
				})
			if start.sums[0] != zero || start.hint.older != one {
				t.Error("the loop changed the first state")
			}
			return []*Node{end.newer, end.sums[0], end.sums[1], end.hint.older}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		out, err := exec.Call(float32(1))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float32{89, 143, 10, 55} {
			if got := tensors.ToScalar[float32](out[i]); got != want {
				t.Errorf("number %d is %g, want %g", i, got, want)
			}
		}
	})
}

// The test checks two kinds of errors: a body that returns a state of another structure or shape, and a state with a
// part that is not a node. Each error must name the wrong part of the state.
func TestStateIsChecked(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	refused := func(want string, f func(x *Node)) {
		t.Helper()
		g := NewGraph(e.Backend, "refused")
		err := exceptions.TryCatch[error](func() { f(Parameter(g, "x", shapes.Make(dtypes.Float32, 2))) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	again := func(x *Node, s numbers, body func(s numbers) numbers) {
		loop.Repeat(loop.Int(x.Graph(), 2), s, x, func(_ *Node, s numbers, _ *Node) numbers { return body(s) })
	}
	refused(`lacks "state.pair.newer"`, func(x *Node) {
		again(x, numbers{pair: pair{x, x}}, func(s numbers) numbers { s.newer = nil; return s })
	})
	refused(`has "state.sums[0]"`, func(x *Node) {
		again(x, numbers{pair: pair{x, x}}, func(s numbers) numbers { s.sums = append(s.sums, s.newer); return s })
	})
	refused(`changes "state.pair.older" from (Float32)[2] to (Float32)[2, 1]`, func(x *Node) {
		again(x, numbers{pair: pair{x, x}}, func(s numbers) numbers { s.older = Reshape(s.older, 2, 1); return s })
	})
	refused(`"state.n" is a int`, func(x *Node) {
		loop.Repeat(loop.Int(x.Graph(), 2), struct {
			x *Node
			n int
		}{x, 1}, x, nil)
	})
}

// The test checks that Differentiate works in two loops of the same graph. Let f(x) = x tanh(2 x) / s, where s is the
// sum of the absolute values of x's entries. A step replaces x by the gradient of the sum of f(x)'s entries. The test
// makes two steps in each loop, and four steps outside the loops. The results must be equal. f uses a scalar constant,
// the number 2. Without Differentiate, GoMLX would make this constant for one loop only, and the other loop would fail.
func TestDifferentiateInLoops(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		f := func(in []*Node) *Node {
			x := in[0]
			return Div(Mul(x, Tanh(MulScalar(x, 2))), ReduceAndKeep(Abs(x), ReduceSum, -1))
		}
		gradient := func(x *Node) *Node { return Gradient(ReduceAllSum(f([]*Node{x})), x)[0] }
		exec, err := NewExec(e.Backend, func(x *Node) []*Node {
			inside, outside := x, x
			for range 2 {
				inside = loop.Repeat(loop.Int(x.Graph(), 2), inside, nil, func(_, x *Node, _ []*Node) *Node {
					d := loop.Differentiate(f, []*Node{x}, 1)
					y, tape := d.Linearize([]*Node{x})
					return d.Pull(loop.Like(loop.Float(y, 1), y), tape, nil, 0, 1)[0]
				})
				outside = gradient(gradient(outside))
			}
			return []*Node{inside, outside}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		out, err := exec.Call([]float32{1, -2, 3, 0.5, 0.25})
		if err != nil {
			t.Fatal(err)
		}
		inside, outside := tensors.MustCopyFlatData[float32](out[0]), tensors.MustCopyFlatData[float32](out[1])
		for i := range outside {
			if d := inside[i] - outside[i]; !(d < 1e-5 && d > -1e-5) {
				t.Errorf("entry %d is %g, want %g", i, inside[i], outside[i])
			}
		}
	})
}

// Differentiate must refuse a function that uses a node from outside the function which is not one of its arguments.
func TestDifferentiateRefusesOtherNodes(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	x := Parameter(NewGraph(e.Backend, "refused"), "x", shapes.Make(dtypes.Float32, 2))
	err := exceptions.TryCatch[error](func() {
		loop.Differentiate(func(in []*Node) *Node { return Add(in[0], x) }, []*Node{x}, 1)
	})
	if err == nil || !strings.Contains(err.Error(), "may use nothing but its arguments") {
		t.Errorf("%v, want an error that says what may be used", err)
	}
}
