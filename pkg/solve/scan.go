package solve

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Step is a layer f of a [Scan]: x_l+1 = f(l, x_l; own, shared). x_l may have any shape, and x_l+1 has the same shape.
// The argument l is the number of the layer, an int32 scalar. The argument own lists the weights that belong to layer l
// alone. The argument shared lists the arrays that all layers read.
type Step func(l, x *Node, own, shared []*Node) *Node

// StepVJP returns the vector-Jacobian products of a [Step]. Given the cotangent v of the layer's result, it returns the
// cotangents of x and of all entries of own and shared. For an entry that is not floating point, the cotangent is nil.
type StepVJP func(l, x, v *Node, own, shared []*Node) (dx *Node, dOwn, dShared []*Node)

// Scan applies a chain of layers, x_l+1 = f(l, x_l; own_l, shared) for l = 0 … depth-1, beginning with x_0 = x, and
// returns x_depth. The entries of the argument own are stacks [depth, …]. The list own_l has slice l of each stack. The
// layer is compiled once, whatever the depth. (A Go loop over the layers would compile each layer separately.)
//
// Scan is differentiable in x and in all floating-point entries of own and shared. GoMLX differentiates f. f may use
// the operations of GoMLX as if it were not in a loop, except those that [loop.Differentiable] excludes. f must use no
// nodes except its arguments. If f needs one of the excluded operations, use [ScanVJP] with a derivative written by
// hand.
//
// The backward pass reads intermediate results of all layers. Some of them are expensive to compute: matrix products,
// and results of functions whose derivatives are written by hand. If the expensive results of all layers together fit
// into 512 MiB, Scan keeps them for the backward pass. Otherwise Scan keeps states, as [ForwardChain] does: the states
// of all layers if they fit into 64 MiB, or else about 2 sqrt(depth) states. The backward pass then computes each layer
// again from the state with which the layer begins.
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

// ScanVJP is [Scan] with a derivative that is written by hand: the function pull returns the vector-Jacobian products
// of f. Both f and pull are called inside loop bodies, and must keep to the rules of package loop.
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

// scan holds the weights of a scan. The field w lists first the weights of floating-point type, which are trainable,
// and then all other weights. The field trainable is the number of trainable weights.
type scan struct {
	w         []*Node
	trainable int
	// owned is the number of entries of the argument own of [Scan]. The field stacks lists the positions of these
	// entries in w.
	owned  int
	stacks own
	// place[i] is the position in w of entry i of the list of all weights: the entries of the argument own, followed by
	// those of the argument shared.
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

// weights takes a list w with a value for each weight, in the order of s.w. The values are the weights themselves or
// their cotangents. The function weights returns two lists: the values for the argument own of [Scan], and the values
// for the argument shared.
func (s scan) weights(w []*Node) (own, shared []*Node) {
	all := make([]*Node, len(s.place))
	for i, p := range s.place {
		all[i] = w[p]
	}
	return all[:s.owned:s.owned], all[s.owned:]
}

// sort is the reverse of weights. The list all has the values for the argument own of [Scan], followed by the values
// for the argument shared. sort returns the same values in the order of s.w.
func (s scan) sort(all []*Node) []*Node {
	sorted := make([]*Node, len(all))
	for i, p := range s.place {
		sorted[p] = all[i]
	}
	return sorted
}

// check panics if the state x cannot be differentiated, or if an entry of own is not a stack with a slice for each
// layer.
func (s scan) check(x *Node, depth int) {
	if !x.DType().IsFloat() {
		panic(fmt.Errorf("solve.Scan: x has shape %s: choose one of floating point", x.Shape()))
	}
	if depth > 0 {
		s.stacks.check(s.w, depth)
	}
}

// inputs lists what layer l reads: the state x, the layer's weights, and the number l itself.
func (s scan) inputs(l, x *Node, w []*Node) []*Node {
	return append(arguments(x, s.stacks.at(w, l)), l)
}

// run applies the layers, and keeps states for the backward pass. The function layer returns a layer together with its
// derivative. The argument in of this function is a list of inputs (see [scan.inputs]), of which only the shapes are
// used.
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
