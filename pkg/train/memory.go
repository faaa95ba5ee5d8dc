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

// MemoryVariable is the name of the environment variable that says how much memory a training may use, in GiB. If the
// variable is not set, a training may use the memory that is free.
const MemoryVariable = "REVGNN_MEMORY"

// Size has the numbers that describe how large a graph is.
type Size struct{ Nodes, Edges, Features, Classes int }

// SizeOf returns the size of a graph.
func SizeOf(g *graphs.Graph) Size { return Size{g.NumNodes, len(g.Edges), g.NumFeatures, g.NumClasses} }

// Least is a lower bound, in bytes, of the memory that a training needs. It is coarse, but can be computed without
// compiling a program. It counts three things:
//
//   - four arrays of shape [nodes, hidden]: a layer's input and output, and the gradients of the loss with respect to
//     both;
//   - the sparse adjacency matrix, which stores a column index and a weight for each direction of each edge;
//   - three numbers per node, for the computation of the loss.
//
// It does not count the features of the dataset, since they may be stored as a small sparse matrix.
func Least(s Size, c Config) int64 {
	return 4*4*int64(s.Nodes)*int64(c.Hidden) + 2*8*int64(s.Edges) + 3*4*int64(s.Nodes)
}

// beside is an estimate of the memory that the first run of a program takes in addition to the memory that the compiler
// reports for the program. It is for the machine code of XLA's plugin, for the stacks of threads, and for what Go's
// garbage collector has not freed yet. In measurements, these three together took 8 to 40 MB (docs/performance.md).
const beside = 32 << 20

// expect predicts the most memory that the process will take when it runs a compiled program (the peak). It stores the
// prediction in s.predicted. It returns an error if the program needs more memory than is available.
//
//   - The program needs the sum of three amounts: the memory that the compiler reports for the program, the constant
//     [beside], and the memory of two copies of the weights, the best and the latest ones.
//   - The predicted peak is the larger of two amounts: the most memory that the process has taken so far, and the
//     memory that it takes now plus what the program needs.
//   - On the CPU, [available] counts free memory and the memory that the process takes now. Therefore what [available]
//     returns must be at least what the process takes now plus what the program needs. (Here, mapped files such as
//     program code do not count as memory of the process.)
//   - On a GPU, what [available] returns must be at least what the program needs.
//
// If an engine does not report the memory of programs, nothing is predicted or checked.
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

// admitLeast returns an error if [Least], the lower bound of the memory that a training needs, exceeds the available
// memory. For the pure-Go engine nothing is checked.
func admitLeast(e *engine.Engine, g *graphs.Graph, c Config) error {
	available, err := available(e)
	least := Least(SizeOf(g), c)
	if err != nil || available == 0 || least <= available || e.Name == engine.Go {
		return err
	}
	return refusal(g, c, "at least "+machine.Bytes(least), available, "choose a smaller --hidden")
}

// admit returns an error if a program needs more memory than is available. need is what the program needs, and taken is
// what the process has taken already. The error says how much memory is needed and available, and with which settings
// the training may fit.
func admit(e *engine.Engine, g *graphs.Graph, c Config, taken, need int64) error {
	available, err := available(e)
	if err != nil || available == 0 || taken+need <= available {
		return err
	}
	return refusal(g, c, "about "+machine.Bytes(taken+need), available, remedy(c, need, available-taken))
}

// refusal is the error for a training that needs too much memory. need says how much memory it needs, and advice says
// what the user can do.
func refusal(g *graphs.Graph, c Config, need string, available int64, advice string) error {
	return fmt.Errorf("%s with hidden %d on graph %q (%d nodes, %d edges) needs %s of memory, "+
		"but %s are free: %s, or set %s to the GiB that may be used",
		c.Model, c.Hidden, g.Name, g.NumNodes, len(g.Edges), need, machine.Bytes(available), advice, MemoryVariable)
}

// remedy is the advice for a training whose program needs more memory than is available:
//
//   - a smaller width (--hidden). Most of a program's memory is in arrays of shape [nodes, hidden]. Therefore remedy
//     computes the width that fits if the memory is proportional to the width. If no width fits, the advice is a
//     smaller graph or a machine with more memory.
//   - a single attention head, if the model has several.
//   - --adjoint implicit, if the setting is --adjoint unrolled, which stores all iterations of the solves.
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

// available is the memory in bytes that a training may use. On the CPU, it includes the memory that the process has
// taken already. It is 0 if it is not known.
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
