package models

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/solve"
)

// For two layers of FAGCN with dropout, the derivative that is written by hand equals the difference quotient in a
// random direction. Each layer drops half of the edges, independently of the other layer.
func TestFAGCNDropsEdges(t *testing.T) {
	const n, width, depth = 60, 3, 2
	var list []graphs.Edge
	for i := range int32(n - 2) { // the last node has no neighbours, the first one many
		list = append(list, graphs.Edge{i, i + 1}, graphs.Edge{0, i + 1}, graphs.Edge{i, i * i % (n - 1)})
	}
	g, err := graphs.New("edges", n, list, nil, 0, make([]int32, n), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		network := &fagcn{}
		var arrays Arrays
		network.Prepare(g, &arrays)
		rng := rand.New(rand.NewPCG(1, 5))
		in := []any{nil, []uint32{1234567, 7654321}, normal(rng, n, width),
			normal(rng, n, width), normal(rng, depth, width, 2), normal(rng, n, width), // a point: X, weights, X_0
			normal(rng, n, width), normal(rng, depth, width, 2), normal(rng, n, width)} // a direction
		for _, a := range arrays.all {
			in = append(in, a)
		}
		layer := faLayer{0.3, 0.5}
		// The function computes two layers. It takes the input X of the first layer, the weights of the layers, and X_0
		// from in[3:6], and adds to each of them h times a direction, from in[6:9]. The first output is the inner
		// product of the result of the layers with in[2]. The second output is the derivative of the first output with
		// respect to the number h. Then there is an output for each layer, which tells which edges the layer keeps.
		ex, err := NewExec(e.Backend, func(in []*Node) []*Node {
			h, at := in[0], in[3:6]
			for i := range at {
				at[i] = Add(at[i], Mul(in[6+i], h))
			}
			own, shared := at[1], faShared{at[2],
				faConstants{in[len(in)-1], network.pattern.On(in[9 : len(in)-1]).Bare(), in[1]}}
			y := solve.ScanVJP(layer.step, layer.pull, at[0], own, shared, depth)
			sum := ReduceAllSum(Mul(y, in[2]))
			out := []*Node{sum, Gradient(sum, h)[0]}
			for l := range int32(depth) {
				weights := Reshape(Slice(own, AxisElem(int(l))), width, 2)
				edges, _, _ := layer.edges(Const(h.Graph(), l), at[0], weights, shared.Constants)
				out = append(out, Sign(edges.mask))
			}
			return out
		})
		if err != nil {
			t.Fatal(err)
		}
		defer ex.Finalize()
		at := func(h float32) []*tensors.Tensor {
			in[0] = h
			out, err := ex.Call(in...)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		const h = 1e-2
		above, below, out := at(h)[0], at(-h)[0], at(0)
		want := float64(tensors.ToScalar[float32](above)-tensors.ToScalar[float32](below)) / (2 * h)
		if got := float64(tensors.ToScalar[float32](out[1])); math.Abs(got-want) > 1e-2*math.Abs(want) {
			t.Errorf("the derivative is %g, by differences %g", got, want)
		}
		first, second := tensors.MustCopyFlatData[float32](out[2]), tensors.MustCopyFlatData[float32](out[3])
		one, both, entries := 0.0, 0.0, 2*float64(len(g.Edges))
		for i := range first {
			one, both = one+float64(first[i]), both+float64(first[i]*second[i])
		}
		if math.Abs(one-entries/2) > 2*math.Sqrt(entries) || math.Abs(both-entries/4) > 2*math.Sqrt(entries) {
			t.Errorf("of %g entries, one layer keeps %g, and both keep %g", entries, one, both)
		}
	})
}

// normal returns an array of random numbers with a standard normal distribution.
func normal(rng *rand.Rand, dims ...int) *tensors.Tensor {
	size := 1
	for _, d := range dims {
		size *= d
	}
	values := make([]float32, size)
	for i := range values {
		values[i] = float32(rng.NormFloat64())
	}
	return tensors.FromFlatDataAndDimensions(values, dims...)
}
