package engine

import "github.com/gomlx/compute"

// Memory is the memory in bytes of one run of a compiled program, as planned by the compiler (PJRT's
// CompiledMemoryStats). The plugin's "peak" is left out, since for the CPU it is the sum of arguments and outputs,
// without the working memory.
type Memory struct {
	// Arguments and Outputs hold the program's inputs and results; Aliased is the part that both share.
	Arguments, Outputs, Aliased int64
	// Temporary is the working memory, allocated when a run starts and freed when it ends.
	Temporary int64
	// Code is the machine code on the device; 0 on the CPU, whose plugin does not count it.
	Code int64
}

// Total is the memory of a run: arguments, outputs, working memory and code. It does not include the memory for
// compiling, which is not known beforehand; that shows as the growth of machine.PeakResidentSet from before to after
// compiling.
func (m Memory) Total() int64 { return m.Arguments + m.Outputs - m.Aliased + m.Temporary + m.Code }

// MemoryOf is the memory of a program compiled on an engine's backend, or loaded from the folder of kept programs.
// known is false for engines that do not report it, such as pure Go, whose operations allocate memory one by one. For
// a GoMLX program:
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
