package engine

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/go-xla/compute/xla"
)

// nested is a backend on which loops may contain loops, and which leaves out what of the pure-Go backend computes
// wrongly (docs/upstream.md).
//
// GoMLX (v0.28.8 to v0.28.16) makes the graph's main function the parent of every closure: of the conditions and bodies
// of all loops, while an inner loop's belong to the body of the outer one, or the engines refuse it. On a nested
// backend, Main().Closure() belongs to the function that is being built at that moment.
type nested struct{ compute.Backend }

// IsCUDA tells whether programs run on NVIDIA's GPUs.
func (b *nested) IsCUDA() bool {
	x, ok := b.Backend.(*xla.Backend)
	return ok && x.IsCUDA()
}

func (b *nested) Builder(name string) compute.Builder {
	return &builder{Builder: b.Backend.Builder(name), backend: b, name: name}
}

// builder builds one graph. open are the functions that are being built, the innermost last.
type builder struct {
	compute.Builder
	backend  *nested
	name     string
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
	// closure counts the graph's closures from 1; 0 for other functions.
	closure int
}

// Parameter adds the closure's number to the name: an inner body sees the names of the outer one, and equal names would
// clash in StableHLO.
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

// While returns copies of the loop's results. Without them the pure-Go backend (compute v0.1.6 to v0.1.14) fails with
// "index out of range", if the last results are not used, nothing was built after the loop, and one value is passed to
// it twice.
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

// BroadcastInDim adds, in closures, a reshape to the same shape, which XLA removes. Without it the pure-Go backend
// (compute v0.1.6 to v0.1.14) merges the broadcast into the elementwise operation that reads it, even in closures that
// it has compiled already, and the operation lacks an input.
func (f *function) BroadcastInDim(operand compute.Value, outputShape shapes.Shape,
	broadcastAxes []int) (compute.Value, error) {
	out, err := f.Function.BroadcastInDim(operand, outputShape, broadcastAxes)
	if err != nil || f.closure == 0 {
		return out, err
	}
	return f.Function.Reshape(out, outputShape.Dimensions...)
}

// Capabilities leaves out two of the pure-Go backend's (compute v0.1.14): with the first, GoMLX builds the values of
// variables into programs that only read them, though they change between calls; with the second, gradients of GELU are
// wrong.
func (b *nested) Capabilities() compute.Capabilities {
	c := b.Backend.Capabilities().Clone()
	c.PreferConstantsForVariables = false
	delete(c.Operations, compute.OpTypeFusedActivationVJP)
	return c
}

// FusedActivation refuses, so that GoMLX composes activations of elementary operations.
func (f *function) FusedActivation(compute.Value, compute.ActivationConfig) (compute.Value, error) {
	return nil, compute.ErrNotImplemented
}

// buffer says that its backend is the nested one: GoMLX refuses a buffer whose backend is not the graph's.
type buffer struct {
	compute.Buffer
	backend *nested
}

func (b buffer) Backend() compute.Backend { return b.backend }

func (b buffer) CopyToDevice(device compute.DeviceNum) (compute.Buffer, error) {
	return b.backend.wrap(b.Buffer.CopyToDevice(device))
}

func (b *nested) wrap(inner compute.Buffer, err error) (compute.Buffer, error) {
	if err != nil {
		return nil, err
	}
	return buffer{inner, b}, nil
}

func (b *nested) BufferFromFlatData(device compute.DeviceNum, flat any, shape shapes.Shape) (compute.Buffer, error) {
	return b.wrap(b.Backend.BufferFromFlatData(device, flat, shape))
}

func (b *nested) NewSharedBuffer(device compute.DeviceNum, shape shapes.Shape) (compute.Buffer, any, error) {
	inner, flat, err := b.Backend.NewSharedBuffer(device, shape)
	if err != nil {
		return nil, nil, err
	}
	return buffer{inner, b}, flat, nil
}

// Compile notes the memory of a run for [MemoryOf].
func (b *builder) Compile() (compute.Executable, error) {
	var e compute.Executable
	memory, err := measure(b.name, func() (err error) {
		e, err = b.Builder.Compile()
		return err
	})
	if err != nil {
		return nil, err
	}
	return executable{e, b.backend, memory}, nil
}

// executable passes buffers of the wrapped backend to the program, and returns nested ones.
type executable struct {
	compute.Executable
	backend *nested
	memory  *Memory
}

func (e executable) Execute(inputs []compute.Buffer, donate []bool,
	device compute.DeviceNum) ([]compute.Buffer, error) {
	inner := make([]compute.Buffer, len(inputs))
	for i, in := range inputs {
		if b, ok := in.(buffer); ok {
			in = b.Buffer
		}
		inner[i] = in
	}
	out, err := e.Executable.Execute(inner, donate, device)
	for i := range out {
		out[i] = buffer{out[i], e.backend}
	}
	return out, err
}

// Memory is what one run of a program takes, in bytes, as XLA's compiler plans it and PJRT reports it
// (CompiledMemoryStats). On the CPU, PJRT's peak leaves out the working memory, and is left out here.
type Memory struct {
	// Aliased is the memory of inputs that results overwrite.
	Arguments, Outputs, Aliased int64
	// Temporary is the working memory of a run.
	Temporary int64
	// Code is that of machine code on a GPU; 0 on the CPU, whose plugin does not report it.
	Code int64
}

// Total counts shared memory once, and leaves out what compiling takes (measure it by machine.PeakResidentSet).
func (m Memory) Total() int64 { return m.Arguments + m.Outputs - m.Aliased + m.Temporary + m.Code }

// MemoryOf returns the memory of a run of a program compiled on an [Engine]'s backend, if the engine reports it. Pure
// Go does not: there each operation allocates when it runs. For a program exec of GoMLX:
//
//	g, err := exec.Compile(shapes...) // or _, g, err := exec.CallWithGraph(args...)
//	m, known := engine.MemoryOf(g.Executable())
func MemoryOf(program compute.Executable) (m Memory, known bool) {
	e, ok := program.(executable)
	if !ok || e.memory == nil {
		return Memory{}, false
	}
	return *e.memory, true
}
