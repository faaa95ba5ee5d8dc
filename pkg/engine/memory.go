package engine

import "github.com/gomlx/compute"

// Memory is the memory in bytes that one run of a program takes. XLA's compiler plans this memory, and PJRT reports it
// (CompiledMemoryStats). PJRT also reports a peak. Memory does not have it, since on the CPU PJRT's peak is only the
// sum of arguments and outputs, without the working memory.
type Memory struct {
	// Arguments is the memory of the program's inputs. Outputs is the memory of its results. A program may overwrite
	// inputs with results. Aliased is the memory that results share with inputs for this reason.
	Arguments, Outputs, Aliased int64
	// Temporary is the working memory, which is allocated when a run starts and freed when the run ends.
	Temporary int64
	// Code is the memory of the program's machine code on the GPU. On the CPU, Code is 0, since the CPU plugin does not
	// report the size of the machine code.
	Code int64
}

// Total is the memory of a run in bytes: arguments, outputs, working memory and code. Memory that outputs share with
// arguments is counted once. Total does not include the memory that compiling takes. To measure the memory of
// compiling, call machine.PeakResidentSet before and after it, and compare.
func (m Memory) Total() int64 { return m.Arguments + m.Outputs - m.Aliased + m.Temporary + m.Code }

// MemoryOf returns the memory that a run of a program takes. The program must have been compiled on the backend of an
// [Engine]. If the engine does not report memory, known is false. This is so for pure Go, where each operation
// allocates memory when it runs. For a program exec of GoMLX, call MemoryOf in this way:
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
