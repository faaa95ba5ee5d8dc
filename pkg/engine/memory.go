package engine

import "github.com/gomlx/compute"

// Memory is the memory in bytes that one run of a program takes, as the compiler has planned it (PJRT's
// CompiledMemoryStats). PJRT also reports a "peak", which is left out here: on the CPU the "peak" is only the sum of
// arguments and outputs, without the working memory.
type Memory struct {
	// Arguments is the memory of the program's inputs, and Outputs is the memory of its results. Aliased is the part
	// that results share with inputs, because the program overwrites inputs with results.
	Arguments, Outputs, Aliased int64
	// Temporary is the working memory, which is allocated when a run starts and freed when it ends.
	Temporary int64
	// Code is the memory of the program's machine code on the device. On the CPU it is 0, since the CPU plugin does not
	// report it.
	Code int64
}

// Total is the memory of a run: arguments, outputs, working memory and code. Aliased memory is counted once. Total does
// not include the memory that compiling takes, which is not known beforehand. To measure the memory of compiling,
// compare machine.PeakResidentSet before and after.
func (m Memory) Total() int64 { return m.Arguments + m.Outputs - m.Aliased + m.Temporary + m.Code }

// MemoryOf is the memory of a program that was compiled on an engine's backend, or loaded as a kept program. known is
// false for engines that do not report memory, such as pure Go, where each operation allocates memory when it runs. For
// a GoMLX graph:
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
