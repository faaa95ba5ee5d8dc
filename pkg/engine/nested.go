package engine

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
)

// nested is a backend that supports loops inside loops. The upstream problem is reported in docs/upstream.md.
//
// GoMLX (v0.28.8 to v0.28.16) makes every closure a child of the main function (graph.NewClosure asks the builder for
// Main().Closure()). A While inside another's body is then refused, since its closures are not children of that body.
// Here Main().Closure() makes a child of the function under construction, as XLA and the pure-Go backend expect.
type nested struct{ compute.Backend }

func (b *nested) Builder(name string) compute.Builder {
	return &builder{Builder: b.Backend.Builder(name), backend: b}
}

// builder keeps the stack of closures under construction; the innermost is last.
type builder struct {
	compute.Builder
	backend  *nested
	open     []*function
	closures int
}

func (b *builder) Main() compute.Function { return &function{b.Builder.Main(), b, 0} }

func (b *builder) NewFunction(name string) (compute.Function, error) {
	f, err := b.Builder.NewFunction(name)
	if err != nil {
		return nil, err
	}
	fn := &function{f, b, 0}
	b.open = append(b.open, fn)
	return fn, nil
}

type function struct {
	compute.Function
	b *builder
	// closure is the closure's number in its graph, from 1; 0 for named functions.
	closure int
}

// Parameter makes parameters' names unique among closures: in StableHLO an inner region sees the names of the outer
// ones.
func (f *function) Parameter(name string, shape shapes.Shape, sharding *compute.ShardingSpec) (compute.Value, error) {
	if f.closure > 0 {
		name = fmt.Sprintf("%s_c%d", name, f.closure)
	}
	return f.Function.Parameter(name, shape, sharding)
}

func (f *function) Closure() (compute.Function, error) {
	parent := f.Function
	if n := len(f.b.open); n > 0 {
		parent = f.b.open[n-1].Function
	}
	c, err := parent.Closure()
	if err != nil {
		return nil, err
	}
	f.b.closures++
	fn := &function{c, f.b, f.b.closures}
	f.b.open = append(f.b.open, fn)
	return fn, nil
}

func (f *function) Return(outputs []compute.Value, shardings []*compute.ShardingSpec) error {
	if n := len(f.b.open); n > 0 && f.b.open[n-1] == f {
		f.b.open = f.b.open[:n-1]
	}
	return f.Function.Return(outputs, shardings)
}

func unwrap(f compute.Function) compute.Function {
	if w, ok := f.(*function); ok {
		return w.Function
	}
	return f
}

func (f *function) Call(g compute.Function, inputs ...compute.Value) ([]compute.Value, error) {
	return f.Function.Call(unwrap(g), inputs...)
}

func (f *function) Sort(comparator compute.Function, axis int, isStable bool,
	inputs ...compute.Value) ([]compute.Value, error) {
	return f.Function.Sort(unwrap(comparator), axis, isStable, inputs...)
}

// While returns copies of the loop's results. Otherwise the pure-Go backend (compute v0.1.6 to v0.1.14) indexes past
// its buffers where the last results of a loop are not used, nothing was built after it, and one value enters the loop
// twice.
func (f *function) While(cond, body compute.Function, initialState ...compute.Value) ([]compute.Value, error) {
	out, err := f.Function.While(unwrap(cond), unwrap(body), initialState...)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if out[i], err = f.Function.Identity(out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (f *function) If(pred compute.Value, trueBranch, falseBranch compute.Function) ([]compute.Value, error) {
	return f.Function.If(pred, unwrap(trueBranch), unwrap(falseBranch))
}

// BroadcastInDim hides a closure's broadcasts from the pure-Go backend's implicit-broadcast pass (compute v0.1.6 to
// v0.1.14). That pass removes broadcasts that elementwise operations read, also from closures compiled earlier, which
// then miss an input. As it looks only at direct inputs, a reshape to the same shape hides a broadcast; XLA drops the
// reshape.
func (f *function) BroadcastInDim(operand compute.Value, outputShape shapes.Shape,
	broadcastAxes []int) (compute.Value, error) {
	out, err := f.Function.BroadcastInDim(operand, outputShape, broadcastAxes)
	if err != nil || f.closure == 0 {
		return out, err
	}
	return f.Function.Reshape(out, outputShape.Dimensions...)
}
