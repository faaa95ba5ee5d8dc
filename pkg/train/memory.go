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

// MemoryVariable is the environment variable with the memory in GiB that a training may use, in place of what is free.
const MemoryVariable = "REVGNN_MEMORY"

// Size is how large a graph is.
type Size struct{ Nodes, Edges, Features, Classes int }

// SizeOf is a graph's size.
func SizeOf(g *graphs.Graph) Size { return Size{g.NumNodes, len(g.Edges), g.NumFeatures, g.NumClasses} }

// Least is a coarse lower bound, in bytes, of the memory of a training, for use before its program is compiled: four
// arrays of [n, hidden] (a layer's input, its output and their cotangents), a column and a weight for each direction
// of an edge, and the loss. Features may be sparse and are left out.
func Least(s Size, c Config) int64 {
	return 4*4*int64(s.Nodes)*int64(c.Hidden) + 2*8*int64(s.Edges) + 3*4*int64(s.Nodes)
}

// beside is the memory that a process takes on its first run of a program, besides the program's own: pages of the
// plugin's code, threads' stacks, and what Go has not collected yet (8 to 40 MB; docs/performance.md).
const beside = 32 << 20

// expect predicts the process's peak memory from a compiled program: the larger of the peak so far, and the present
// memory plus what the program needs, which is its own memory, [beside], and copies of the best and the latest weights
// on the host. It refuses the program where that need does not fit (see [admit]) besides what the process has taken,
// not counting mapped files; for CUDA, the need alone is compared with the GPU's memory. Engines that do not tell a
// program's memory are not checked.
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
	return admit(s.engine, s.graph, s.config, taken, need)
}

// admitLeast refuses a training whose lower bound [Least] exceeds the available memory.
func admitLeast(e *engine.Engine, g *graphs.Graph, c Config) error {
	available, err := available(e)
	least := Least(SizeOf(g), c)
	if err != nil || available == 0 || least <= available || e.Name == engine.Go {
		return err
	}
	return refusal(g, c, "at least "+machine.Bytes(least), available, "choose a smaller --hidden")
}

// admit refuses a program that needs more memory, besides what is taken, than is available. The error has the numbers,
// and settings that may fit.
func admit(e *engine.Engine, g *graphs.Graph, c Config, taken, need int64) error {
	available, err := available(e)
	if err != nil || available == 0 || taken+need <= available {
		return err
	}
	return refusal(g, c, "about "+machine.Bytes(taken+need), available, remedy(c, need, available-taken))
}

func refusal(g *graphs.Graph, c Config, need string, available int64, advice string) error {
	return fmt.Errorf("%s with hidden %d on graph %q (%d nodes, %d edges) needs %s of memory, "+
		"but %s are free: %s, or set %s to the GiB that may be used",
		c.Model, c.Hidden, g.Name, g.NumNodes, len(g.Edges), need, machine.Bytes(available), advice, MemoryVariable)
}

// remedy names the settings to lower. Most of a program's memory is arrays of [n, hidden], so that the width that fits
// is about proportional to the memory; where there are several heads, fewer may be enough.
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

// available is the memory in bytes that a training may use, including what the process has already; 0 if unknown.
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
