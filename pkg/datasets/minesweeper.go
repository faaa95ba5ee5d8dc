package datasets

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// MinesweeperGenerated is the dataset name for which [Load] generates a Minesweeper graph.
const MinesweeperGenerated = "minesweeper-generated"

// allSettings is an example for error messages.
const allSettings = "rows=50,cols=50,mines=0.2,unknown=0.5,seed=1"

// maxCells is the largest number of cells of a generated grid; a million cells take about 150 MB.
const maxCells = 1 << 20

// Minesweeper describes a generated graph like the public Minesweeper dataset (Platonov et al., 2023), the same on
// every machine. The nodes are the n = Rows*Cols cells of a grid, (row, column) being node Cols*row + column; edges
// join each cell to those around it, at most eight. The label is 1 for a mine, else 0.
//
// One of 7 features is 1: feature 0 if the number of mines among the neighbours is unknown, features 1 to 5 for 0 to 4
// mines, feature 6 for five or more. There are round(Mines*n) mines, and round(Unknown*n) unknown numbers; both sets
// of cells are drawn uniformly, and independently of each other.
//
// The ten splits have 50 % of the nodes for training, 25 % for validation and 25 % for test, stratified by label.
type Minesweeper struct {
	Rows, Cols     int
	Mines, Unknown float64 // shares of all cells, 0 to 1
	Seed           uint64
}

// DefaultMinesweeper has the public dataset's size, share of mines, and share of unknown numbers.
func DefaultMinesweeper() Minesweeper {
	return Minesweeper{Rows: 100, Cols: 100, Mines: 0.2, Unknown: 0.5, Seed: 1}
}

// ParseMinesweeper reads the name of a generated graph, with settings that differ from DefaultMinesweeper, such as
// "minesweeper-generated:rows=50,cols=50,mines=0.2,unknown=0.5,seed=1".
func ParseMinesweeper(spec string) (Minesweeper, error) {
	m := DefaultMinesweeper()
	name, settings, given := strings.Cut(spec, ":")
	if name != MinesweeperGenerated {
		return m, fmt.Errorf("%q is not %s with settings", spec, MinesweeperGenerated)
	}
	if !given {
		return m, nil
	}
	parse := flag.NewFlagSet(MinesweeperGenerated, flag.ContinueOnError)
	parse.IntVar(&m.Rows, "rows", m.Rows, "")
	parse.IntVar(&m.Cols, "cols", m.Cols, "")
	parse.Float64Var(&m.Mines, "mines", m.Mines, "")
	parse.Float64Var(&m.Unknown, "unknown", m.Unknown, "")
	parse.Uint64Var(&m.Seed, "seed", m.Seed, "")
	seen := map[string]bool{}
	for setting := range strings.SplitSeq(settings, ",") {
		key, value, _ := strings.Cut(setting, "=")
		switch {
		case seen[key]:
			return m, fmt.Errorf("%s: %s is given twice", MinesweeperGenerated, key)
		case parse.Lookup(key) == nil:
			return m, fmt.Errorf("%s: unknown setting %q; write them as in %s:%s",
				MinesweeperGenerated, truncate(setting), MinesweeperGenerated, allSettings)
		case parse.Set(key, value) != nil:
			return m, fmt.Errorf("%s: %s=%q is not a number that fits; write them as in %s:%s",
				MinesweeperGenerated, key, truncate(value), MinesweeperGenerated, allSettings)
		}
		seen[key] = true
	}
	return m, m.check()
}

// String returns the name of the graph that m describes. Load accepts this name, and then returns the graph.
func (m Minesweeper) String() string {
	if m == DefaultMinesweeper() {
		return MinesweeperGenerated
	}
	return fmt.Sprintf("%s:rows=%d,cols=%d,mines=%v,unknown=%v,seed=%d",
		MinesweeperGenerated, m.Rows, m.Cols, m.Mines, m.Unknown, m.Seed)
}

func (m Minesweeper) check() error {
	if m.Rows < 1 || m.Cols < 1 || m.Rows > maxCells/m.Cols {
		return fmt.Errorf("%s: a grid of %d x %d cells; it needs at least one and at most %d cells",
			MinesweeperGenerated, m.Rows, m.Cols, maxCells)
	}
	for _, share := range []float64{m.Mines, m.Unknown} {
		if !(share >= 0 && share <= 1) {
			return fmt.Errorf("%s: mines=%v and unknown=%v are shares of the cells and must lie between 0 and 1",
				MinesweeperGenerated, m.Mines, m.Unknown)
		}
	}
	return nil
}

// Graph generates the graph that m describes. The name of the graph is m.String().
func (m Minesweeper) Graph() (*graphs.Graph, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	n := m.Rows * m.Cols
	// The second number of the seed is arbitrary.
	random := cellRandom{rand.NewPCG(m.Seed, 0x6d696e6573)}
	labels := make([]int32, n)
	for _, i := range random.choose(n, m.Mines) {
		labels[i] = 1
	}
	unknown := make([]bool, n)
	for _, i := range random.choose(n, m.Unknown) {
		unknown[i] = true
	}

	edges := gridEdges(m.Rows, m.Cols)
	mines := make([]int32, n)
	for _, e := range edges {
		mines[e[0]] += labels[e[1]]
		mines[e[1]] += labels[e[0]]
	}
	const width = 7
	features := make([]float32, n*width)
	for i := range n {
		column := 0
		if !unknown[i] {
			column = 1 + int(min(mines[i], 5))
		}
		features[i*width+column] = 1
	}
	splits := make([]graphs.Split, 10)
	for k := range splits {
		splits[k] = random.stratified(labels)
	}
	return graphs.New(m.String(), n, edges, features, width, labels, 2, splits)
}

// MineCounts are the numbers of mines among each cell's neighbours (5 means five or more) by the features of a
// Minesweeper graph, or NaN where the number is unknown.
func MineCounts(g *graphs.Graph) []float64 {
	out := make([]float64, g.NumNodes)
	for i := range out {
		out[i] = math.NaN()
		for count, feature := range g.Features[i*g.NumFeatures:][1:g.NumFeatures] {
			if feature == 1 {
				out[i] = float64(count)
			}
		}
	}
	return out
}

// gridEdges joins every cell to that on its right and those in the next row: each edge once.
func gridEdges(rows, cols int) []graphs.Edge {
	edges := make([]graphs.Edge, 0, 4*rows*cols)
	for r := range rows {
		for c := range cols {
			for _, step := range [4][2]int{{0, 1}, {1, -1}, {1, 0}, {1, 1}} {
				if y, x := r+step[0], c+step[1]; y < rows && x >= 0 && x < cols {
					edges = append(edges, graphs.Edge{int32(r*cols + c), int32(y*cols + x)})
				}
			}
		}
	}
	return edges
}

// cellRandom makes random numbers from the raw output of the generator PCG, a published algorithm. The methods of
// rand.Rand may give other numbers in another version of Go, and generated graphs must stay the same.
type cellRandom struct{ *rand.PCG }

// below draws a number uniformly from 0 … n-1, for n > 0: the remainder of 64 random bits, drawn again until they are
// below a multiple of n, so that small remainders are not a little more likely.
func (r cellRandom) below(n int) int {
	limit := math.MaxUint64 - math.MaxUint64%uint64(n)
	for {
		if v := r.Uint64(); v < limit {
			return int(v % uint64(n))
		}
	}
}

// choose draws round(share*n) different numbers from 0 … n-1.
func (r cellRandom) choose(n int, share float64) []int {
	return permutation(n, r.below)[:int(math.Round(share*float64(n)))]
}

// stratified splits the nodes of each label at random: 50 % for training, 25 % for validation, the rest for test.
func (r cellRandom) stratified(labels []int32) graphs.Split {
	n := len(labels)
	s := graphs.Split{Train: make([]bool, n), Val: make([]bool, n), Test: make([]bool, n)}
	var byLabel [2][]int
	for i, l := range labels {
		byLabel[l] = append(byLabel[l], i)
	}
	for _, nodes := range byLabel {
		shuffle(nodes, r.below)
		half := int(math.Round(0.5 * float64(len(nodes))))
		threeQuarters := half + int(math.Round(0.25*float64(len(nodes))))
		for k, i := range nodes {
			s.Train[i] = k < half
			s.Val[i] = k >= half && k < threeQuarters
			s.Test[i] = k >= threeQuarters
		}
	}
	return s
}
