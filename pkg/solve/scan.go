package solve

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Step is a layer of a [Scan]: x_l+1 = f(l, x_l; own, shared), of x_l's shape, any. l is an int32 scalar; own are the
// layer's own weights, a slice of each stack, and shared is what all layers read.
type Step func(l, x *Node, own, shared []*Node) *Node

// StepVJP are the vector-Jacobian products of a [Step] for the cotangent v of its result: those of x, and of all
// entries of own and of shared, in place of which nil stands for those that are not of floating point.
type StepVJP func(l, x, v *Node, own, shared []*Node) (dx *Node, dOwn, dShared []*Node)

// Scan applies depth layers to x, x_l+1 = f(l, x_l; own_l, shared) for l = 0 … depth-1, and returns x_depth. The
// entries of own are stacks [depth, …], of which layer l reads slice l. The layer is compiled once, whatever the
// depth, where a loop on the host compiles it depth times.
//
// It is differentiable in x and all entries of own and shared of floating point, by GoMLX's derivative of f. f may
// use GoMLX as in any graph but for the operations that [loop.Differentiable] names, and no nodes but its arguments;
// where that is not enough, give its derivative by hand to [ScanVJP]. What is dear to compute in a layer, products and
// what has a derivative by hand, is kept for the way back if that fits into 512 MiB for all layers. Else layers are
// evaluated once more, from all states where they fit into 64 MiB and from about 2 sqrt(depth) states otherwise, as in
// [ForwardChain].
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

// scan is a scan's weights: those of floating point first, which are trainable, then the others.
type scan struct {
	w         []*Node
	trainable int
	// owned is the number of entries that are the layers' own, and stacks are their places in w.
	owned  int
	stacks own
	// place is where entry i of own and shared together is in w.
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

// weights are own and shared, out of values in w's order.
func (s scan) weights(w []*Node) (own, shared []*Node) {
	all := make([]*Node, len(s.place))
	for i, p := range s.place {
		all[i] = w[p]
	}
	return all[:s.owned:s.owned], all[s.owned:]
}

// sort puts values of own and shared into w's order.
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

// inputs are those of layer l: its state, weights and number.
func (s scan) inputs(l, x *Node, w []*Node) []*Node {
	return append(arguments(x, s.stacks.at(w, l)), l)
}

// run is the scan of a layer of x, w and l, for inputs of the shapes of in.
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
