package layers_test

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
)

// gated returns the branch G ∘ b(X), where G are random gates. projected returns the branch b(P(X)), where P is the
// projection p.
func (b branch) gated() branch {
	l := onList[layers.GatedWeights[listed]]{layers.Gated(b.layer), func(w listed) layers.GatedWeights[listed] {
		return layers.GatedWeights[listed]{G: w.W[0], Inner: listed{w.W[1:], w.Arrays}}
	}, func(dw layers.GatedWeights[listed]) []*Node { return append([]*Node{dw.G}, dw.Inner.W...) }}
	return branch{l, append([]*tensors.Tensor{gates(5)}, b.w...), b.arrays}
}
func (b branch) projected(p layers.Projection) branch {
	return branch{layers.Projected(b.layer, p), slices.Clone(b.w), b.arrays}
}

// gates are random gates between 0 and 1, one for each node and each feature.
func gates(seed uint64) *tensors.Tensor {
	values := tensors.MustCopyFlatData[float32](draw(seed, 30, nodes, width))
	for i, v := range values {
		values[i] = float32(1 / (1 + math.Exp(-float64(v))))
	}
	return tensors.FromFlatDataAndDimensions(values, nodes, width)
}

// bound is the bound on the Lipschitz constant of a branch: the largest gate, if there are gates, times the sum of the
// Frobenius norms of the weights. The weights are the square matrices, and the gates are the matrix that is not square.
func (b branch) bound() float64 {
	sum, gate := 0.0, 1.0
	for _, w := range b.w {
		d, values := w.Shape().Dimensions, tensors.MustCopyFlatData[float32](w)
		switch {
		case len(d) == 2 && d[0] == d[1]:
			sum += layers.Frobenius(values)
		case len(d) == 2:
			gate = float64(slices.Max(values))
		}
	}
	return gate * sum
}

// The results of a block for two states differ by at most the block's bound times the distance of the states. The test
// checks this for two states near each other, and for two states far from each other. It looks for the direction from
// one state to the other in which the results differ most. Power iteration on J^T J finds this direction, where J is
// the derivative of the block. Products with J are computed from differences of the block's results. Products with J^T
// are computed by the block's vector-Jacobian product, which is written by hand.
func TestLipschitzBounds(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	all := branches(t, e)
	for _, name := range []string{"GCN with tanh", "SAGE"} { // GAT's bound does not cover its attention
		tried := map[string]branch{name: all[name], "gated " + name: all[name].gated()}
		for _, p := range []layers.Projection{layers.ProjectionCenter, layers.ProjectionCenterNodes, layers.ProjectionBall} {
			b, with := all[name].projected(p), " with "+string(p)
			tried[name+with], tried["gated "+name+with] = b, b.gated()
		}
		for name, b := range tried {
			bound := b.bound()
			near, far := b.expansion(t, e, 0.05), b.expansion(t, e, 20)
			if most := max(near, far); !(most <= bound*(1+1e-4)) || near < bound/5 {
				t.Errorf("%s: near states are taken apart by up to %g of their distance, far ones %g; the bound is %g",
					name, near, far, bound)
			}
		}
	}
}

// expansion is the largest value of |h(X + V) - h(X - V)| / |2 V| that 30 steps of power iteration find. h is the
// function that the branch b computes, X is the state that b.state returns, and the argument step is the length of V.
func (b branch) expansion(t *testing.T, e *engine.Engine, step float64) (most float64) {
	t.Helper()
	exec := must(NewExec(e.Backend, func(in []*Node) []*Node {
		x, v, w := in[0], in[1], in[2:]
		v = MulScalar(Div(v, Sqrt(ReduceAllSum(Square(v)))), step)
		own := b.weights(w)
		h := func(x *Node) *Node { return b.layer.Activate(b.layer.Preactivation(x, own), own) }
		jv := DivScalar(Sub(h(Add(x, v)), h(Sub(x, v))), 2*step)
		u, tape := b.layer.Linearize(x, own)
		next, _ := b.layer.PullX(b.layer.Gate(u, jv, own), tape, own)
		return []*Node{Sqrt(ReduceAllSum(Square(jv))), next}
	}))
	defer exec.Finalize()
	v := draw(4, 1, nodes, b.width())
	for range 30 {
		args := []any{b.state(), v}
		for _, a := range slices.Concat(b.w, b.arrays) {
			args = append(args, must(a.LocalClone()))
		}
		out := must(exec.Call(args...))
		most = max(most, float64(tensors.ToScalar[float32](out[0])))
		v = tensors.FromFlatDataAndDimensions(tensors.MustCopyFlatData[float32](out[1]), nodes, b.width())
	}
	return most
}

// TestBall projects the rows of an array with d = 4 columns to the ball of radius sqrt(d) around 0, and doubles the
// result. The projection shortens a row outside the ball to the length sqrt(d) and keeps its direction. It does not
// change a row inside the ball.
func TestBall(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		x := tensors.FromFlatDataAndDimensions([]float32{3, 4, 0, 0, 0, 1.2, 0.9, 0, 0, 0, 0, 0}, 3, 4)
		got := run(t, e, func(in []*Node) []*Node {
			double := solve.FromFunction(func(x *Node, _ []*Node) *Node { return Add(x, x) })
			return []*Node{layers.Projected(double, layers.ProjectionBall).Preactivation(in[0], nil)}
		}, x)
		if want := []float32{2.4, 3.2, 0, 0, 0, 2.4, 1.8, 0, 0, 0, 0, 0}; !slices.EqualFunc(got[0], want,
			func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 }) {
			t.Errorf("got %v, want %v", got[0], want)
		}
	})
}
