package engine

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
)

// nested is a backend that supports loops inside loops. It works around a fault of GoMLX, which docs/upstream.md
// reports.
//
// A loop's condition and body are closures: functions that belong to another function, their parent. GoMLX (v0.28.8 to
// v0.28.16) makes the main function the parent of every closure, since graph.NewClosure calls the builder's
// Main().Closure(). A While inside the body of another While is then refused, since its closures do not belong to this
// body. In a nested backend, Main().Closure() makes a closure whose parent is the function that is being built, as XLA
// and the pure-Go backend expect.
type nested struct{ compute.Backend }

func (b *nested) Builder(name string) compute.Builder {
	return &builder{Builder: b.Backend.Builder(name), backend: b}
}

// builder keeps a stack of the functions that are being built, in open. The innermost function is the last.
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
	// closure is the closure's number in its graph, counted from 1, or 0 for a function that is not a closure.
	closure int
}

// Parameter makes the names of parameters different in all closures. In StableHLO, XLA's input language, the names in
// the body of an outer loop are also visible in the body of an inner loop, so that equal names would clash.
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

// While returns copies of the loop's results. Without the copies, the pure-Go backend (compute v0.1.6 to v0.1.14) fails
// with an index out of range if three things come together: the last results of a loop are not used, no operation was
// built after the loop, and one value is passed to the loop twice.
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

// BroadcastInDim works around a fault of the pure-Go backend (compute v0.1.6 to v0.1.14). The backend optimises a
// program by removing broadcasts that elementwise operations read. It also removes them from closures that have been
// compiled already, which then lack an input. Only broadcasts that are direct inputs of an elementwise operation are
// removed. So in closures a reshape to the same shape is added after each broadcast. XLA drops the reshape.
func (f *function) BroadcastInDim(operand compute.Value, outputShape shapes.Shape,
	broadcastAxes []int) (compute.Value, error) {
	out, err := f.Function.BroadcastInDim(operand, outputShape, broadcastAxes)
	if err != nil || f.closure == 0 {
		return out, err
	}
	return f.Function.Reshape(out, outputShape.Dimensions...)
}
