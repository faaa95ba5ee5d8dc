package train

import (
	"fmt"
	"os"
	"strconv"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
)

// MemoryVariable names the environment variable that says how many GiB a training may use, else what is free.
const MemoryVariable = "REVGNN_MEMORY"

// Size is that of a graph.
type Size struct{ Nodes, Edges, Features, Classes int }

// Least is a coarse lower bound of the memory of a training, in bytes, without a compiler: four arrays [nodes, hidden]
// (a layer's input and output, and their gradients), an index and a weight for each direction of each edge, and three
// numbers per node for the loss. Features are left out, since they may be sparse.
func Least(s Size, c Config) int64 {
	return 4*4*int64(s.Nodes)*int64(c.Hidden) + 2*8*int64(s.Edges) + 3*4*int64(s.Nodes)
}

// beside is what the first run of a program takes beside what the compiler reports: XLA's machine code, stacks of
// threads, and garbage; 8 to 40 MB were measured (docs/performance.md).
const beside = 32 << 20

// expect predicts the peak of the process's memory for a compiled program, and refuses a program that needs more than
// is available, if the engine reports memory. A program needs what the compiler reports, [beside], and two copies of
// the weights, the best and the latest. On the CPU, [available] includes what the process has taken (mapped files such
// as program code do not count).
func (s *session) expect(program *Graph) error {
	m, known := engine.MemoryOf(program.Executable())
	if !known {
		return nil
	}
	need := m.Total() + beside
	for _, v := range s.Variables {
		need += 2 * int64(v.Shape().ByteSize())
	}
	s.predicted = max(s.predicted, machine.PeakResidentSet(), machine.ResidentSet()+need)
	taken := int64(0)
	if s.engine.Name != engine.CUDA {
		taken = machine.Resident()
	}
	return admit(s.engine, s.graph, s.config, "about", taken+need, func(available int64) string {
		return remedy(s.config, need, available-taken)
	})
}

// admitLeast refuses a training by [Least], except on the pure-Go engine.
func admitLeast(e *engine.Engine, g *graphs.Graph, c Config) error {
	least := Least(Size{g.NumNodes, len(g.Edges), g.NumFeatures, g.NumClasses}, c)
	if e.Name == engine.Go {
		least = 0
	}
	return admit(e, g, c, "at least", least, func(int64) string { return "choose a smaller --hidden" })
}

// admit refuses what needs more memory than is available.
func admit(e *engine.Engine, g *graphs.Graph, c Config, about string, need int64,
	advice func(available int64) string) error {
	available, err := available(e)
	if err != nil || available == 0 || need <= available {
		return err
	}
	return fmt.Errorf("%s with hidden %d on graph %q (%d nodes, %d edges) needs %s %s of memory, "+
		"but %s are free: %s, or set %s to the GiB that may be used", c.Model, c.Hidden, g.Name, g.NumNodes, len(g.Edges),
		about, machine.Bytes(need), machine.Bytes(available), advice(available), MemoryVariable)
}

// remedy is advice: the width that fits if memory is proportional to it, since most is in arrays [nodes, hidden], or a
// smaller graph; one head; the implicit adjoint.
func remedy(c Config, need, available int64) string {
	width := int(float64(c.Hidden) * float64(available) / float64(need))
	if width > 8 {
		width -= width % 8
	}
	advice := "take a smaller graph or a machine with more memory"
	if width > 0 {
		advice = fmt.Sprintf("try --hidden %d", width)
	}
	if c.Heads > 1 {
		advice = "try --heads 1, or " + advice
	}
	if c.Adjoint == "unrolled" {
		advice = "try --adjoint implicit, or " + advice
	}
	return advice
}

// available is the memory that a training may use, in bytes, on the CPU with what the process has taken; 0 if unknown.
func available(e *engine.Engine) (int64, error) {
	if text := os.Getenv(MemoryVariable); text != "" {
		limit, err := strconv.ParseFloat(text, 64)
		if err != nil || !(limit > 0) {
			return 0, fmt.Errorf("%s is %q: it must be a number of GiB above 0", MemoryVariable, text)
		}
		return int64(min(limit, 1<<30) * (1 << 30)), nil
	}
	if e.Name == engine.CUDA {
		return machine.GPUMemory(), nil
	}
	_, free := machine.Memory()
	if free == 0 {
		return 0, nil
	}
	return free + machine.Resident(), nil
}
