package solve

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Step is a layer of a [Scan]: x_l+1 = f(l, x_l; own, shared), of the shape of x_l, which may be any. l is an int32
// scalar, own are the layer's own weights (a slice of each stack), and shared is what all layers read.
type Step func(l, x *Node, own, shared []*Node) *Node

// StepVJP are the vector-Jacobian products of a [Step], given the cotangent v of its result: the cotangents of x and
// of all entries of own and shared, with nil for entries that are not floating point.
type StepVJP func(l, x, v *Node, own, shared []*Node) (dx *Node, dOwn, dShared []*Node)

// Scan applies depth layers to x, x_l+1 = f(l, x_l; own_l, shared) for l = 0 … depth-1, and returns x_depth. The
// entries of own are stacks [depth, …], of which layer l reads slice l. The layer is compiled once, whatever the
// depth; a Go loop over layers would have it compiled depth times.
//
// It is differentiable in x and all floating-point entries of own and shared, by GoMLX's derivative of f. f may use
// GoMLX as in any graph, except the operations that [loop.Differentiable] names, and must use no nodes but its
// arguments; where that is not enough, pass a derivative by hand to [ScanVJP]. Expensive intermediate results
// (products, and results with derivatives by hand) are kept for the backward pass if those of all layers fit into 512
// MiB. Otherwise layers are evaluated once more in the backward pass: from all states where they fit into 64 MiB, else
// from about 2 sqrt(depth) states, as in [ForwardChain].
func Scan(f Step, x *Node, own, shared []*Node, depth int) *Node {
	s := newScan(own, shared)
	layer := func(in []*Node) *loop.Differentiable {
		return loop.Differentiate(func(in []*Node) *Node {
			own, shared := s.weights(in[1:])
			return alike("a step of the scan", f(in[len(in)-1], in[0], own, shared), in[0])
		}, in, 1+s.trainable).Lean()
	}
	s.check(x, depth)
	if depth <= 0 {
		return x
	}
	tape, bytes := layer(s.inputs(loop.Int(x.Graph(), 0), x, s.w)).Tape(), int64(0)
	for _, shape := range tape {
		bytes += int64(depth) * int64(shape.ByteSize())
	}
	if bytes > keepTapes {
		return s.run(x, depth, func(in []*Node) differentiable { return layer(in) })
	}
	return s.taped(x, tape, depth, layer)
}

// ScanVJP is [Scan] with the derivative of f by hand. Both functions are called inside loop bodies, under the rules
// of package loop.
func ScanVJP(f Step, pull StepVJP, x *Node, own, shared []*Node, depth int) *Node {
	s := newScan(own, shared)
	return s.run(x, depth, func([]*Node) differentiable {
		return byHand{
			f: func(in []*Node) *Node {
				own, shared := s.weights(in[1:])
				return alike("a step of the scan", f(in[len(in)-1], in[0], own, shared), in[0])
			},
			pull: func(x, v *Node, others []*Node) []*Node {
				own, shared := s.weights(others)
				dx, dOwn, dShared := pull(others[len(others)-1], x, v, own, shared)
				if len(dOwn) != len(own) || len(dShared) != len(shared) {
					panic(fmt.Errorf("solve.ScanVJP: the vector-Jacobian product has %d and %d "+
						"cotangents for %d weights of the layer's own and %d shared ones: return as many",
						len(dOwn), len(dShared), len(own), len(shared)))
				}
				return checked(dx, s.sort(slices.Concat(dOwn, dShared))[:s.trainable], x, others[:s.trainable])
			},
		}
	})
}

// scan holds a scan's weights: those of floating point first, which are trainable, then the others.
type scan struct {
	w         []*Node
	trainable int
	// owned is the length of own, and stacks are the places of its entries in w.
	owned  int
	stacks own
	// place[i] is the place in w of entry i of own followed by shared.
	place []int
}

func newScan(owned, shared []*Node) scan {
	all := slices.Concat(owned, shared)
	s := scan{owned: len(owned), place: make([]int, len(all))}
	for _, float := range []bool{true, false} {
		for i, n := range all {
			if n.DType().IsFloat() != float {
				continue
			}
			s.place[i] = len(s.w)
			if i < len(owned) {
				s.stacks = append(s.stacks, len(s.w))
			}
			s.w = append(s.w, n)
		}
		if float {
			s.trainable = len(s.w)
		}
	}
	return s
}

// weights splits values in w's order into own and shared.
func (s scan) weights(w []*Node) (own, shared []*Node) {
	all := make([]*Node, len(s.place))
	for i, p := range s.place {
		all[i] = w[p]
	}
	return all[:s.owned:s.owned], all[s.owned:]
}

// sort puts the values of own followed by shared into w's order.
func (s scan) sort(all []*Node) []*Node {
	sorted := make([]*Node, len(all))
	for i, p := range s.place {
		sorted[p] = all[i]
	}
	return sorted
}

// check refuses states that cannot be differentiated, and weights that are no stacks.
func (s scan) check(x *Node, depth int) {
	if !x.DType().IsFloat() {
		panic(fmt.Errorf("solve.Scan: x has shape %s: choose one of floating point", x.Shape()))
	}
	if depth > 0 {
		s.stacks.check(s.w, depth)
	}
}

// inputs lists what layer l reads: its state, its weights and its number.
func (s scan) inputs(l, x *Node, w []*Node) []*Node {
	return append(arguments(x, s.stacks.at(w, l)), l)
}

// run scans a layer that reads x, w and l; in has inputs of the right shapes.
func (s scan) run(x *Node, depth int, layer func(in []*Node) differentiable) *Node {
	s.check(x, depth)
	if depth <= 0 {
		return x
	}
	all := steps[[]*Node]{segment: segmentOf(x, depth), add: s.stacks.add,
		advance: func(l, x *Node, w []*Node) *Node {
			in := s.inputs(l, x, w)
			return layer(in).Value(in)
		},
		pull: func(l, x, v, _ *Node, w []*Node) (cotangents, *Node) {
			in := s.inputs(l, x, w)
			f := layer(in)
			_, tape := f.Linearize(in)
			grads := f.Pull(v, tape, in[1:])
			return cotangents{grads[0], grads[1:]}, nil
		},
	}
	return element(all.run(x, s.w[:s.trainable], stopped(s.w), depth), 0)
}
