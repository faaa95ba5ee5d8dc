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
// parent. The parent of an inner loop's closures should be the body of the outer loop. But GoMLX (v0.28.8 to v0.28.16)
// makes the graph's main function the parent of every closure, and then XLA and the pure-Go backend refuse the inner
// loop. The cause is GoMLX's function graph.NewClosure. It makes closures by Main().Closure(), where Main() is the main
// function. On a nested backend, Main().Closure() makes a closure whose parent is the function that is being built at
// that moment.
type nested struct{ compute.Backend }

func (b *nested) Builder(name string) compute.Builder {
	return &builder{Builder: b.Backend.Builder(name), backend: b}
}

// builder builds one computation graph on a nested backend. open has the functions that are being built: each function
// is built inside the one before it, and the last one is the innermost. closures counts the closures of the graph.
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

// function is a function of a computation graph that is built on a nested backend.
type function struct {
	compute.Function
	b *builder
	// closure is the number of this function among the closures of its graph, counted from 1. It is 0 if the function
	// is not a closure.
	closure int
}

// Parameter adds a parameter to the function. In a closure, it appends the closure's number to the parameter's name, so
// that no two closures have parameters of the same name. In StableHLO, XLA's input language, the body of an inner loop
// can also use the names in the body of the outer loop, so that equal names would clash.
func (f *function) Parameter(name string, shape shapes.Shape, sharding *compute.ShardingSpec) (compute.Value, error) {
	if f.closure > 0 {
		name = fmt.Sprintf("%s_c%d", name, f.closure)
	}
	return f.Function.Parameter(name, shape, sharding)
}

// Closure makes a closure. Its parent, the function to which it belongs, is the innermost function that is being built;
// see [nested].
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

// unwrap returns the function of the wrapped backend that f contains. If f is not a [function], unwrap returns f.
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

// While adds a loop to the function, and returns copies of the loop's results. The copies work around a fault of the
// pure-Go backend (compute v0.1.6 to v0.1.14). Without them, this backend fails with the error "index out of range" if
// three things are true: the last results of the loop are not used, no operation was built after the loop, and one
// value is passed to the loop twice.
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

// BroadcastInDim adds a broadcast to the function (an operation that repeats an array along axes). In closures, it also
// adds a reshape to the same shape after the broadcast. The reshape works around a fault of the pure-Go backend
// (compute v0.1.6 to v0.1.14). To make programs faster, this backend removes every broadcast that is a direct input of
// an elementwise operation. But it does so even in closures that it has compiled already, and then the elementwise
// operation lacks an input. With the reshape, the broadcast is not a direct input, so that the backend does not remove
// it. XLA removes the reshape.
func (f *function) BroadcastInDim(operand compute.Value, outputShape shapes.Shape,
	broadcastAxes []int) (compute.Value, error) {
	out, err := f.Function.BroadcastInDim(operand, outputShape, broadcastAxes)
	if err != nil || f.closure == 0 {
		return out, err
	}
	return f.Function.Reshape(out, outputShape.Dimensions...)
}
