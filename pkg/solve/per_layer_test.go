package solve_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/solve"
)

const depth = 5

// layersProblem is [problem] with stacks of weights and biases for all layers.
func layersProblem(seed uint64) []*tensors.Tensor {
	var w, b []float32
	for l := range uint64(depth) {
		args := problem(seed + 100*l)
		w = append(w, tensors.MustCopyFlatData[float32](args[1])...)
		b = append(b, tensors.MustCopyFlatData[float32](args[2])...)
	}
	args := problem(seed)
	args[1] = tensors.FromFlatDataAndDimensions(w, depth, width, width)
	args[2] = tensors.FromFlatDataAndDimensions(b, depth, width)
	return args
}

// slice returns the weights of layer l: its slice of each weight that is a stack, and the other weights unchanged.
func slice(w []*Node, l int) []*Node {
	w = slices.Clone(w)
	for p, rank := range []int{2, 1} {
		if w[p].Rank() > rank {
			w[p] = Reshape(Slice(w[p], AxisElem(l)), w[p].Shape().Dimensions[1:]...)
		}
	}
	return w
}

// oneByOne returns a chain that applies the layers one by one, in a Go loop. It goes from the first layer to the last
// or, if the argument last is true, from the last to the first. GoMLX differentiates the operations that slice the
// layers' weights.
func oneByOne(layer func(x *Node, w []*Node) *Node, last bool) chain {
	return func(x *Node, w []*Node) (*Node, []*Node) {
		for l := range depth {
			if last {
				l = depth - 1 - l
			}
			x = layer(x, slice(w, l))
		}
		return x, nil
	}
}

func perLayerChains() map[string]struct{ chain, want chain } {
	block := solve.PerLayer(layer(dense{}))
	o := solve.Options{Tolerance: 1e-7, MaxIterations: 200, Order: 3}
	single := func(x *Node, w []*Node) *Node {
		return invert(dense{}, x, w, 1, unrolled(o))
	}
	plain := func(x *Node, w []*Node) *Node { return Add(x, dense{}.Activate(dense{}.Preactivation(x, w), w)) }
	return map[string]struct{ chain, want chain }{
		"forward": {func(x *Node, w []*Node) (*Node, []*Node) {
			return solve.Forward(block, x, w, depth), nil
		}, oneByOne(plain, false)},
		"reverse": {func(x *Node, w []*Node) (*Node, []*Node) {
			y := invert(block, x, w, depth, o)
			return y, nil
		}, oneByOne(single, true)},
		"unrolled": {func(x *Node, w []*Node) (*Node, []*Node) {
			return invert(block, x, w, depth, unrolled(o)), nil
		}, oneByOne(single, true)},
		"there and back": {func(x *Node, w []*Node) (*Node, []*Node) {
			y := invert(block, solve.Forward(block, x, w, depth), w, depth, o)
			return y, nil
		}, func(x *Node, w []*Node) (*Node, []*Node) { return x, nil }},
	}
}

// With stacked weights, the results and gradients of chains equal those of layers applied one by one. Reverse chains
// begin with the last layer.
func TestPerLayerEqualsOneByOne(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		args := layersProblem(31)
		for name, c := range perLayerChains() {
			got, want := run(t, e, args, c.chain), run(t, e, args, c.want)
			for i, what := range []string{"result", "dx", "dW", "db"} {
				d := distance(got[i], want[i])
				if name == "there and back" && i >= 2 { // the true gradients are zero
					d = size(got[i])
				}
				if !(d < 2e-5) {
					t.Errorf("%s: %s differs by %.2g", name, what, d)
				}
			}
			slope, numeric := derivativesAt(t, e, args, layersProblem(32), c.chain)
			if !(math.Abs(numeric-slope) <= 2e-3*max(1, math.Abs(slope))) {
				t.Errorf("%s: derivative %.6f, finite difference %.6f", name, slope, numeric)
			}
		}
	})
}

func size(a []float32) float64 {
	sum := 0.0
	for _, v := range a {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

// A chain whose layers share W, and have separate biases, has the same result and gradients as a chain with a stack of
// W in which all slices are equal.
func TestPerLayerOfSomeWeights(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		args := layersProblem(33)
		args[1] = problem(33)[1]
		both := run(t, e, args, func(x *Node, w []*Node) (*Node, []*Node) {
			block := solve.PerLayer(layer(dense{}), "[1]")
			y := solve.Forward(block, x, w, depth)
			z := invert(block, x, w, depth, tight)
			return Add(y, z), nil
		})
		same := run(t, e, args, func(x *Node, w []*Node) (*Node, []*Node) {
			block := solve.PerLayer(layer(dense{}))
			w = []*Node{BroadcastToDims(Reshape(w[0], 1, width, width), depth, width, width), w[1]}
			y := solve.Forward(block, x, w, depth)
			z := invert(block, x, w, depth, unrolled(tight))
			return Add(y, z), nil
		})
		for i, what := range []string{"result", "dx", "dW", "db"} {
			if d := distance(both[i], same[i]); !(d < 2e-5) {
				t.Errorf("%s differs by %.2g", what, d)
			}
		}
	})
}

// With separate weights for each layer, a block made by [solve.FromFunction] has the same results and gradients as a
// block written by hand.
func TestPerLayerOfFunction(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		both := func(block layer) [][]float32 {
			return run(t, e, layersProblem(36), func(x *Node, w []*Node) (*Node, []*Node) {
				y := solve.Forward(solve.PerLayer(block), x, w, depth)
				z := invert(solve.PerLayer(block), x, w, depth, tight)
				return Add(y, z), nil
			})
		}
		got, want := both(solve.FromFunction(ordinary)), both(dense{})
		for i, what := range []string{"result", "dx", "dW", "db"} {
			if d := distance(got[i], want[i]); !(d < 2e-5) {
				t.Errorf("%s differs by %.2g from that of the block by hand", what, d)
			}
		}
	})
}

// Profile and the reverse chain have the same result, also with separate weights for each layer.
func TestProfilePerLayer(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	out := run(t, e, layersProblem(34), func(x *Node, w []*Node) (*Node, []*Node) {
		y := invert(solve.PerLayer(layer(dense{})), x, w, depth, tight)
		z, _ := solve.Profile(solve.PerLayer(layer(dense{})), x, w, depth, 100)
		return y, []*Node{z}
	})
	if d := distance(out[4], out[0]); !(d < 1e-5) {
		t.Errorf("the profile's result differs by %.2g from the chain's", d)
	}
}

func TestPerLayerRefuses(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	block := solve.PerLayer(layer(dense{}))
	for want, c := range map[string]chain{
		"stack one weight per layer": func(x *Node, w []*Node) (*Node, []*Node) {
			return solve.Forward(block, x, w, depth+1), nil
		},
		`is called "[2]"`: func(x *Node, w []*Node) (*Node, []*Node) {
			return solve.Forward(solve.PerLayer(layer(dense{}), "[2]"), x, w, depth), nil
		},
		"name all of them": func(x *Node, w []*Node) (*Node, []*Node) {
			return solve.Forward(solve.PerLayer(block, "[1]"), x, w, depth), nil
		},
	} {
		args := layersProblem(35)
		err := exceptions.TryCatch[error](func() {
			g := NewGraph(e.Backend, fmt.Sprint("refused ", want))
			w := []*Node{Parameter(g, "w", args[1].Shape()), Parameter(g, "b", args[2].Shape())}
			c(Parameter(g, "x", args[0].Shape()), w)
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}
