package engine

import "github.com/gomlx/compute"

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
// \\tg, err := exec.Compile(shapes...) // or _, g, err := exec.CallWithGraph(args...)
// \\tm, known := engine.MemoryOf(g.Executable())
func MemoryOf(program compute.Executable) (m Memory, known bool) {
	e, ok := program.(executable)
	if !ok || e.memory == nil {
		return Memory{}, false
	}
	return *e.memory, true
}
