package train

import (
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// MemoryVariable is the environment variable with the GiB of memory that a training may count on, in place of what is free.
const MemoryVariable = "REVGNN_MEMORY"

// Part is what an [Estimate] is made of.
type Part struct {
	Name  string
	Bytes int64
	// Device marks what is on the GPU, where there is one.
	Device bool
}

// Estimate is the peak memory of a process that trains.
type Estimate struct {
	Bytes int64
	Parts []Part
}

// Memory predicts the peak memory of a training on XLA: while the program is compiled or in its backward pass, whichever is
// more. The counts of states and of numbers per entry are fitted to what XLA CPU (xla-cpu-pjrt 0.0.1) assigns memory to;
// docs/performance.md says how close they come.
func Memory(g *graphs.Graph, c Config) Estimate {
	c = c.Resolved()
	layout := sparse.Constant
	if !c.is(models.GCN) {
		layout = sparse.Computed
	}
	places, terms := sparse.Places(g, layout)
	n, p := float64(g.NumNodes), float64(places)
	states, perEntry, arrays := live(c, g.NumNodes)
	features := 4 * n * float64(g.NumFeatures)
	// The compiler's memory grows with the length of the program, to which every sum over neighbours adds its terms; about a
	// quarter of it stays.
	compiler := termBytes * float64(terms) * versions(c)
	running := 4*n*float64(c.Hidden)*states + 4*p*perEntry
	var e Estimate
	add := func(name string, device bool, bytes float64) {
		e.Parts = append(e.Parts, Part{name, int64(bytes), device})
		e.Bytes += int64(bytes)
	}
	add("the engine and its compiler", false, max(engineBytes+compiler/4, engineBytes+compiler-running))
	add("the graph", false, features+8*float64(len(g.Edges))+n*(4+3*float64(len(g.Splits))))
	stored := features
	if entries, sparse := models.Sparse(g); sparse {
		stored = 16 * float64(entries) // column and value, in both orders
	}
	add("features and adjacency", true, 2*(stored+4*p*arrays))
	add(fmt.Sprintf("%.0f states of all nodes", states), true, 4*n*float64(c.Hidden)*states)
	if perEntry > 0 {
		add(fmt.Sprintf("%.0f numbers per edge and direction", perEntry), true, 4*p*perEntry)
	}
	return e
}

// engineBytes is what the engine and a small program take, and termBytes what compiling one term of one sum takes.
const engineBytes, termBytes = 220e6, 1e6

// is tells whether the model, with or without reverse process, is of a kind.
func (c Config) is(kind string) bool { return strings.TrimSuffix(c.Model, "+rep") == kind }

// versions is the number of times that the program has every sum over neighbours, relative to GCN.
func versions(c Config) float64 {
	switch {
	case c.is(models.GCN):
		return 1
	case c.is(models.GAT):
		return 2.3
	}
	return 1.6
}

// live counts what lives at once: states are arrays of [n, hidden], perEntry numbers for every place of the adjacency, and
// arrays the adjacency's own numbers per place.
func live(c Config, n int) (states, perEntry, arrays float64) {
	heads := float64(c.Heads)
	switch {
	case c.is(models.GRAND):
		// The keys of every entry's column are gathered for the scores.
		states, perEntry, arrays = 8+steps(c, n), 9+1.2*float64(c.AttentionDim), 4
	case c.is(models.GAT):
		states, perEntry, arrays = chains(c, n, 3+5*heads, 9+8*heads), 8*heads, 7*heads
	default:
		reverse := 11.5
		if c.Adjoint == "implicit" && solve.Keeps(n, c.Hidden, c.Reverse) {
			reverse += float64(c.Reverse)
		}
		states, arrays = chains(c, n, 6, reverse), 2
	}
	if c.Norm != "none" {
		states += 4
	}
	if c.Dropout > 0 {
		states += 2
	}
	return states + float64(c.HeadLayers-1), perEntry, arrays
}

// chains is the larger one of what the backward passes of the forward and of the reverse chain hold: checkpoints, states
// between two of them, and what a layer takes; the first's checkpoints wait while the second is walked.
func chains(c Config, n int, forward, reverse float64) float64 {
	kept, segment := c.checkpoints(n, c.Forward)
	if !c.HasReverse() {
		return kept + segment + forward
	}
	if c.Adjoint == "unrolled" {
		reverse += float64(c.Reverse + c.MaxIterations)
	}
	return kept + max(segment+forward+1, reverse)
}

// checkpoints is how many of so many states of n nodes are kept, and how many between two are computed again: see
// [solve.ForwardChain].
func (c Config) checkpoints(n, count int) (kept, segment float64) {
	if count == 0 {
		return 0, 0
	}
	s := solve.Segment(4*int64(n)*int64(c.Hidden), count)
	if s > 1 {
		segment = float64(s)
	}
	return math.Ceil(float64(count) / float64(s)), segment
}

// steps is the number of states that the integrations of both directions keep for their backward passes, and those that a step
// works in.
func steps(c Config, n int) (states float64) {
	m, err := solve.MethodNamed(c.Solver)
	if err != nil {
		return 0 // refused by Validate
	}
	longest := 0.0
	for _, to := range []float64{c.Time, c.ReverseTime} {
		if to == 0 {
			continue
		}
		count := math.Ceil(to / c.Step)
		if m.Adaptive() {
			count = math.Ceil(float64(c.MaxEvaluations) / float64(len(m.B)-1))
		}
		kept, segment := c.checkpoints(n, int(count))
		states, longest = states+kept, max(longest, segment)
	}
	return states + longest + float64(len(m.B))
}

// onDevice is the part of an estimate that is on the GPU.
func (e Estimate) onDevice() (d Estimate) {
	for _, p := range e.Parts {
		if p.Device {
			d.Bytes, d.Parts = d.Bytes+p.Bytes, append(d.Parts, p)
		}
	}
	return d
}

// check refuses, in a sentence with the numbers and what would fit, what needs more memory than there is; need is Memory, or
// the part of it that is limited.
func check(g *graphs.Graph, c Config, need func(c Config) Estimate, available int64) error {
	e := need(c)
	if e.Bytes <= available {
		return nil
	}
	largest := slices.MaxFunc(e.Parts, func(a, b Part) int { return int(a.Bytes>>10 - b.Bytes>>10) })
	return fmt.Errorf("%s with hidden %d on graph %q (%d nodes, %d edges) needs about %s of memory, of which %s for %s, but %s are free: %s, or set %s to the GiB that may be used",
		c.Model, c.Hidden, g.Name, g.NumNodes, len(g.Edges), machine.Bytes(e.Bytes), machine.Bytes(largest.Bytes), largest.Name, machine.Bytes(available), remedy(c, need, available), MemoryVariable)
}

// remedy names the smallest changes of c that fit.
func remedy(c Config, need func(c Config) Estimate, available int64) string {
	fits := func(c Config) bool { return need(c).Bytes <= available }
	implicit, single := c, c
	implicit.Adjoint, single.Heads = "implicit", 1
	var choices []string
	if c.Adjoint != implicit.Adjoint && fits(implicit) {
		choices = append(choices, "--adjoint implicit")
	}
	if c.Heads > 1 && fits(single) {
		choices = append(choices, "--heads 1")
	}
	if width := widest(c, fits); width > 0 {
		choices = append(choices, fmt.Sprintf("--hidden %d", width))
	}
	if len(choices) == 0 {
		c.Adjoint, c.Heads = implicit.Adjoint, single.Heads
		width := widest(c, fits)
		if width == 0 {
			return "no width fits, take a smaller graph or a machine with more memory"
		}
		choices = append(choices, fmt.Sprintf("--adjoint implicit --heads 1 --hidden %d", width))
	}
	return "choose " + strings.Join(choices, " or ")
}

// widest is the largest width below c's that fits, a multiple of 8 where it is above 8; 0 if there is none.
func widest(c Config, fits func(Config) bool) int {
	width := sort.Search(c.Hidden, func(smaller int) bool { // the first that does not fit, less one
		c.Hidden = smaller + 1
		return !fits(c)
	})
	if width > 8 {
		width -= width % 8
	}
	return width
}

// reserve predicts the memory of a training, and refuses it where the machine, or its GPU, has less. The pure-Go engine and
// machines that do not tell what is free are not checked.
func reserve(e *engine.Engine, g *graphs.Graph, c Config) (Estimate, error) {
	estimate := Memory(g, c)
	available, err := available(e)
	if err != nil || available == 0 || e.Name == engine.Go {
		return estimate, err
	}
	need := func(c Config) Estimate { return Memory(g, c) }
	if e.Name == engine.CUDA {
		need = func(c Config) Estimate { return Memory(g, c).onDevice() }
	}
	return estimate, check(g, c, need, available)
}

// available is what a training may take in all, including what the process has already, in bytes; 0 if that is not known.
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
