package engine

import "github.com/gomlx/compute"

// Memory is what one run of a compiled program takes, in bytes, as the compiler planned it (PJRT's
// CompiledMemoryStats). The plugin's "peak" is not among it: that of the CPU plugin is the sum of arguments and
// outputs, without the working memory.
type Memory struct {
	// Arguments and Outputs hold the program's inputs and results; Aliased of these are one and the same.
	Arguments, Outputs, Aliased int64
	// Temporary is the working memory, asked for at the start of a run and given back at its end.
	Temporary int64
	// Code is the machine code on the device; 0 on the CPU, whose plugin does not count it.
	Code int64
}

// Total is all that a run takes: arguments, outputs, working memory and code. What the compiler took to make the
// program is not part of it, and not known beforehand: it shows as the growth of machine.PeakResidentSet from before
// to after compiling.
func (m Memory) Total() int64 { return m.Arguments + m.Outputs - m.Aliased + m.Temporary + m.Code }

// MemoryOf tells the memory of a program that was compiled on an engine's backend, or taken from the folder of kept
// ones; false where the engine does not tell, as pure Go, whose operations ask for memory one by one. For a GoMLX
// program:
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
