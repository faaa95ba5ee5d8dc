package solve

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Layer is the residual branch h(X; w) = σ(u(X; w); w) of a layer f(X) = X + h(X; w), with a preactivation u and an
// entrywise activation σ. X, u and h are [n, d]. W is the Go type of the weights w, mostly a struct with a field for
// each. Weights of floating point are trainable, unless a [loop.Fixed] value holds them, as a sparse matrix does.
//
// [FromFunction] makes a layer of h alone. Methods by hand can be faster; they keep to the rules of package loop.
type Layer[W any] interface {
	Preactivation(x *Node, w W) *Node
	// Activate is σ(u; w). Gate is σ'(u; w) ∘ v.
	Activate(u *Node, w W) *Node
	Gate(u, v *Node, w W) *Node
	// Linearize is u(X; w) and the tape of PullX and PullW.
	Linearize(x *Node, w W) (u *Node, tape []*Node)
	// PullX is (∂u/∂X)^T q, with intermediate results that PullW can reuse. It may be called several times.
	PullX(q *Node, tape []*Node, w W) (dx *Node, shared []*Node)
	// PullW has (∂h/∂w)^T v in the place of each trainable weight, given q = σ'(u; w) ∘ v. shared is from PullX,
	// perhaps of a q that differs by about the tolerance of the solve.
	PullW(q *Node, shared, tape []*Node, w W) W
}

// taper is a [Layer] that can make the tape without u, which saves work where u is known.
type taper[W any] interface {
	Tape(x *Node, w W) []*Node
}

// apply is h(X; w).
func apply[W any](l Layer[W], x *Node, w W) *Node { return l.Activate(l.Preactivation(x, w), w) }

// Apply is h(X; w), as a part of a larger function: its gradient is that of the layer's own methods.
func Apply[W any](l Layer[W], x *Node, w W) *Node {
	if h, is := l.(function[W]); is {
		return h.Preactivation(x, w)
	}
	_, trainable, known := weightsOf(l, w, 0)
	fixed := stopped(w)
	u, tape := l.Linearize(StopGradient(x), fixed)
	return loop.Custom(l.Activate(u, fixed), append([]*Node{x}, trainable...), func(v *Node) []*Node {
		q := l.Gate(u, v, fixed)
		dx, shared := l.PullX(q, tape, fixed)
		return append([]*Node{dx}, cotangentsOf(known, l.PullW(q, shared, tape, fixed), fixed)...)
	})
}

// FromFunction makes a layer of h, which GoMLX differentiates. h returns a node of X's shape, and uses its arguments
// alone and what [loop.Differentiable] allows. For [Invert], its Lipschitz constant in X must be below 1.
func FromFunction[W any](h func(x *Node, w W) *Node) Layer[W] { return function[W](h) }

type function[W any] func(x *Node, w W) *Node

func (h function[W]) Preactivation(x *Node, w W) *Node {
	if x.Graph().IsMainFunc() { // outside of loops
		return alike("h", h(x, w), x)
	}
	f, in := h.differentiate(x, w)
	return f.Value(in)
}

func (function[W]) Activate(u *Node, _ W) *Node { return u }
func (function[W]) Gate(_, v *Node, _ W) *Node  { return v }

func (h function[W]) Linearize(x *Node, w W) (*Node, []*Node) {
	f, in := h.differentiate(x, w)
	return f.Linearize(in)
}

func (h function[W]) PullX(q *Node, tape []*Node, w W) (*Node, []*Node) {
	f, in := h.differentiate(q, w)
	return f.Pull(q, tape, in[1:], 0, 1)[0], nil
}

func (h function[W]) PullW(q *Node, _, tape []*Node, w W) W {
	f, in := h.differentiate(q, w)
	grads := f.Pull(q, tape, in[1:], 1, f.Count())
	return loop.Map(w, func(l loop.Leaf) *Node {
		if !l.Trainable {
			return nil
		}
		first := grads[0]
		grads = grads[1:]
		return first
	})
}

// differentiate returns h as a function of X and the nodes of w as listed lists them. Of x, only the shape is used.
func (h function[W]) differentiate(x *Node, w W) (f *loop.Differentiable, in []*Node) {
	nodes, trainable := listed(w)
	in = append([]*Node{x}, nodes...)
	return loop.Differentiate(func(in []*Node) *Node {
		return alike("h", h(in[0], restored(w, in[1:])), in[0])
	}, in, 1+trainable), in
}

// listed lists the nodes of w, first those that are trainable. restored returns a value like w with other nodes.
func listed[W any](w W) (nodes []*Node, trainable int) {
	var others []*Node
	for _, l := range loop.Leaves(w) {
		if l.Trainable {
			nodes = append(nodes, l.Node)
		} else {
			others = append(others, l.Node)
		}
	}
	return append(nodes, others...), len(nodes)
}

func restored[W any](like W, nodes []*Node) W {
	_, trainable := listed(like)
	first, rest := nodes[:trainable], nodes[trainable:]
	return loop.Map(like, func(l loop.Leaf) (n *Node) {
		if l.Trainable {
			n, first = first[0], first[1:]
		} else {
			n, rest = rest[0], rest[1:]
		}
		return n
	})
}

// alike panics unless y has x's shape. what is the name of y in the error.
func alike(what string, y, x *Node) *Node {
	if !y.Shape().Equal(x.Shape()) {
		panic(fmt.Errorf("package solve: %s has shape %s: return a node of shape %s", what, y.Shape(), x.Shape()))
	}
	return y
}

// PerLayer gives each layer of a chain weights of its own: the named weights, such as "W", or all trainable ones are
// then stacks [depth, …], and so are their gradients. The layer is compiled once.
//
// Layers are numbered in the order of the forward chain. Reverse chains invert them from the last to the first, g^(1) ∘
// … ∘ g^(L), g^(l) = (f^(l))^-1 (paper section 3.1). Their solves start from the right-hand side, since neighbouring
// layers have little in common.
func PerLayer[W any](l Layer[W], names ...string) Layer[W] {
	if _, again := l.(perLayer[W]); again {
		panic(fmt.Errorf("solve.PerLayer: the layer has weights per layer already: name all of them in one call"))
	}
	return perLayer[W]{l, names}
}

type perLayer[W any] struct {
	Layer[W]
	names []string
}

// weights are the names of the trainable nodes of a value, and which of them are stacks with a slice per layer.
type weights struct {
	names []string
	own   []bool
}

// weightsOf returns the layer to call, the weights that are trainable, and what is known of them.
func weightsOf[W any](l Layer[W], w W, depth int) (Layer[W], []*Node, weights) {
	var nodes []*Node
	var known weights
	p, separate := l.(perLayer[W])
	for _, leaf := range loop.Leaves(w) {
		if !leaf.Trainable {
			continue
		}
		own := separate && (len(p.names) == 0 || slices.Contains(p.names, leaf.Name))
		if s := leaf.Shape(); own && (s.Rank() < 1 || s.Dimensions[0] != depth) {
			panic(fmt.Errorf("package solve: weight %q has shape %s, but there are %d layers: stack one weight per layer",
				leaf.Name, s, depth))
		}
		nodes, known.names, known.own = append(nodes, leaf.Node), append(known.names, leaf.Name), append(known.own, own)
	}
	if !separate {
		return l, nodes, known
	}
	for _, name := range p.names {
		if !slices.Contains(known.names, name) {
			panic(fmt.Errorf("solve.PerLayer: no trainable weight is called %q: choose from %q", name, known.names))
		}
	}
	return p.Layer, nodes, known
}

// separate tells whether layers have weights of their own.
func (k weights) separate() bool { return slices.Contains(k.own, true) }

// at returns the weights of one layer.
func at[W any](k weights, w W, layer *Node) W {
	if !k.separate() {
		return w
	}
	return loop.Map(w, func(l loop.Leaf) *Node {
		if i := slices.Index(k.names, l.Name); i >= 0 && k.own[i] {
			return load(l.Node, layer)
		}
		return l.Node
	})
}

// trainableOf lists the trainable nodes of w.
func trainableOf[W any](k weights, w W) (nodes []*Node) {
	for _, l := range loop.Leaves(w) {
		if slices.Contains(k.names, l.Name) {
			nodes = append(nodes, l.Node)
		}
	}
	return nodes
}

// cotangentsOf lists the cotangents of the trainable weights, which dw has in their places.
func cotangentsOf[W any](k weights, dw, w W) []*Node {
	found := map[string]*Node{}
	for _, l := range loop.Leaves(dw) {
		found[l.Name] = l.Node
	}
	out := make([]*Node, len(k.names))
	for _, l := range loop.Leaves(w) {
		if i := slices.Index(k.names, l.Name); i >= 0 {
			if found[l.Name] == nil {
				panic(fmt.Errorf("package solve: the derivative lacks the cotangent of weight %q", l.Name))
			}
			out[i] = alike(fmt.Sprintf("the cotangent of weight %q", l.Name), found[l.Name], l.Node)
		}
	}
	return out
}

// add adds a layer's part of the weights' cotangents to the sums. Of a stack, it has a slice.
func (k weights) add(sums, dw []*Node, layer *Node) []*Node {
	next := make([]*Node, len(sums))
	for p := range sums {
		if k.own[p] {
			next[p] = store(sums[p], dw[p], layer)
		} else {
			next[p] = Add(sums[p], dw[p])
		}
	}
	return next
}

// stopped applies StopGradient to all nodes of w.
func stopped[W any](w W) W {
	return loop.Map(w, func(l loop.Leaf) *Node { return StopGradient(l.Node) })
}

// zeros are arrays of zeros like the nodes.
func zeros(nodes []*Node) []*Node {
	out := make([]*Node, len(nodes))
	for i, n := range nodes {
		out[i] = loop.Zeros(n)
	}
	return out
}

// Forward applies depth layers f(X) = X + h(X; w). It is differentiable in x and in the trainable weights. All states
// are kept for the backward pass if they fit into 64 MiB, else about 2 sqrt(depth) of them, and others are computed
// again (Griewank 1992; Chen et al. 2016).
func Forward[W any](l Layer[W], x *Node, w W, depth int) *Node {
	if depth <= 0 {
		return x
	}
	one, trainable, known := weightsOf(l, w, depth)
	s := steps[W]{segment: segmentOf(x, depth),
		advance: func(i, x *Node, w W) *Node { return Add(x, apply(one, x, at(known, w, i))) },
		pull: func(i, x, v, _ *Node, w W) (cotangents, *Node) {
			w = at(known, w, i)
			u, tape := one.Linearize(x, w)
			q := one.Gate(u, v, w)
			dx, shared := one.PullX(q, tape, w)
			return cotangents{Add(v, dx), cotangentsOf(known, one.PullW(q, shared, tape, w), w)}, nil
		},
		weights: known,
	}
	return element(s.run(x, trainable, stopped(w), depth), 0)
}
