package engine

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
)

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
	memory, err := measure(func() (err error) {
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
