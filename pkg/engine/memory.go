package engine

import "github.com/gomlx/compute"

// Memory is the memory in bytes that one run of a compiled program takes, as the compiler has planned it (PJRT's
// CompiledMemoryStats). The plugin also reports a "peak", which is left out here: on the CPU it is the sum of arguments
// and outputs, without the working memory.
type Memory struct {
	// Arguments is the memory of the program's inputs, Outputs that of its results, and Aliased the memory that inputs
	// and results share.
	Arguments, Outputs, Aliased int64
	// Temporary is the working memory, which is allocated when a run starts and freed when it ends.
	Temporary int64
	// Code is the memory of the program's machine code on the device. It is 0 on the CPU, whose plugin does not count
	// it.
	Code int64
}

// Total is the memory of a run: arguments, outputs, working memory and code. It does not include the memory that
// compiling takes, which is not known beforehand. To measure that, compare machine.PeakResidentSet before and after
// compiling.
func (m Memory) Total() int64 { return m.Arguments + m.Outputs - m.Aliased + m.Temporary + m.Code }

// MemoryOf is the memory of a program that was compiled on an engine's backend, or that was loaded from the folder of
// compiled programs. known is false for engines that do not report it, such as pure Go, where each operation allocates
// memory when it runs. For a GoMLX program:
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
