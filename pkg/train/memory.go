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

// MemoryVariable is the environment variable that says how much memory a training may use, in GiB. Without it, a
// training may use the memory that is free.
const MemoryVariable = "REVGNN_MEMORY"

// Size is how large a graph is.
type Size struct{ Nodes, Edges, Features, Classes int }

// SizeOf is a graph's size.
func SizeOf(g *graphs.Graph) Size { return Size{g.NumNodes, len(g.Edges), g.NumFeatures, g.NumClasses} }

// Least is a coarse lower bound, in bytes, of the memory that a training needs. It can be computed before the program
// is compiled. It counts four arrays of [n, hidden] (a layer's input and output, and the gradients of the loss by
// both), a column index and a weight for each direction of an edge, and the arrays of the loss. Features are not
// counted, since they may be sparse.
func Least(s Size, c Config) int64 {
	return 4*4*int64(s.Nodes)*int64(c.Hidden) + 2*8*int64(s.Edges) + 3*4*int64(s.Nodes)
}

// beside is the memory that a process takes on its first run of a program, besides the program's own: pages of the
// plugin's code, threads' stacks, and what Go's garbage collector has not freed yet (8 to 40 MB; docs/performance.md).
const beside = 32 << 20

// expect predicts the peak memory of the process from a compiled program, and refuses the program if it does not fit.
// The program's need is its own memory, [beside], and copies of the best and the latest weights on the host. The
// predicted peak is the present memory plus this need, or the peak so far if that is larger. The program fits if its
// need and the memory that the process has taken, mapped files not counted, are together available (see [admit]). For
// CUDA the need alone is compared with the GPU's memory. Engines that do not tell a program's memory are not checked.
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

// admitLeast refuses a training whose lower bound [Least] exceeds the available memory. The pure-Go engine is not
// checked.
func admitLeast(e *engine.Engine, g *graphs.Graph, c Config) error {
	available, err := available(e)
	least := Least(SizeOf(g), c)
	if err != nil || available == 0 || least <= available || e.Name == engine.Go {
		return err
	}
	return refusal(g, c, "at least "+machine.Bytes(least), available, "choose a smaller --hidden")
}

// admit refuses a program if the memory that it needs and the memory that is taken already are together more than is
// available. The error has the numbers, and settings that may fit.
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
// is about proportional to the memory. If there are several attention heads, fewer heads may be enough.
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

// available is the memory in bytes that a training may use, including what the process has taken already; 0 if unknown.
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
