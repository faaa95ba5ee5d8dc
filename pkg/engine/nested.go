package engine

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
)

// nested is a backend on which loops may contain loops. It works around a fault of GoMLX, which docs/upstream.md
// reports.
//
// The condition and the body of a loop are closures: functions that belong to another function, which is called their
// parent. GoMLX (v0.28.8 to v0.28.16) makes the main function the parent of every closure, since graph.NewClosure calls
// Main().Closure() of the builder. But the parent of an inner loop's closures should be the body of the outer loop. XLA
// and the pure-Go backend therefore refuse the inner loop. On a nested backend, Main().Closure() makes a closure whose
// parent is the function that is being built at that moment.
type nested struct{ compute.Backend }

func (b *nested) Builder(name string) compute.Builder {
	return &builder{Builder: b.Backend.Builder(name), backend: b}
}

// builder builds one computation graph on a nested backend. open is a stack of the functions that are being built: the
// last of them is the innermost function. closures counts the closures of the graph.
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

// function is a function of a graph on a nested backend.
type function struct {
	compute.Function
	b *builder
	// closure is the number of a closure, counted from 1 in each graph. For all other functions it is 0.
	closure int
}

// Parameter gives a parameter a name that differs from the names in all other closures. In StableHLO, XLA's input
// language, the body of an inner loop also sees the names in the body of the outer loop. So equal names would clash.
func (f *function) Parameter(name string, shape shapes.Shape, sharding *compute.ShardingSpec) (compute.Value, error) {
	if f.closure > 0 {
		name = fmt.Sprintf("%s_c%d", name, f.closure)
	}
	return f.Function.Parameter(name, shape, sharding)
}

// Closure makes a closure whose parent is the innermost function that is being built; see [nested].
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

// unwrap returns the function of the inner backend that a [function] contains. (The inner backend is the one inside the
// nested backend.)
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

// While returns copies of the loop's results. Without these copies, the pure-Go backend (compute v0.1.6 to v0.1.14)
// fails with the error "index out of range" if three things are true: the last results of a loop are not used, no
// operation was built after the loop, and one value is passed to the loop twice.
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

// BroadcastInDim works around a fault of the pure-Go backend (compute v0.1.6 to v0.1.14). To make a program faster,
// this backend removes each broadcast that is a direct input of an elementwise operation. The backend also removes such
// broadcasts from closures that it has compiled already. There, the elementwise operation then lacks an input. In
// closures, BroadcastInDim therefore adds a reshape to the same shape after the broadcast: the elementwise operation
// reads the reshape, and the broadcast stays. XLA drops the reshape.
func (f *function) BroadcastInDim(operand compute.Value, outputShape shapes.Shape,
	broadcastAxes []int) (compute.Value, error) {
	out, err := f.Function.BroadcastInDim(operand, outputShape, broadcastAxes)
	if err != nil || f.closure == 0 {
		return out, err
	}
	return f.Function.Reshape(out, outputShape.Dimensions...)
}
