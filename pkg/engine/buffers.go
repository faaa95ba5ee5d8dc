package engine

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
)

// buffer is an array in the memory of an engine. GoMLX compares the backend of a buffer with the backend of the graph,
// and refuses the buffer if the two differ. The backend of the graph is a [nested] backend. So the method Backend of a
// buffer returns this nested backend, and not the backend that is wrapped in it.
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

// Compile compiles the graph. The result holds the program. It also says how much memory a run of the program takes,
// which [MemoryOf] returns.
func (b *builder) Compile() (compute.Executable, error) {
	var e compute.Executable
	memory, err := measure(func() (err error) {
		e, err = b.Builder.Compile()
		return err
	})
	if err != nil {
		return nil, err
	}
	return executable{e, b.backend, memory}, nil
}

// executable is a program of a [nested] backend. GoMLX calls Execute with buffers of the nested backend, but the
// program runs on the wrapped backend. So Execute passes buffers of the wrapped backend to the program, and turns the
// results into buffers of the nested backend.
type executable struct {
	compute.Executable
	backend *nested
	// memory is the memory that a run of the program takes, or nil if the engine does not report this.
	memory *Memory
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
