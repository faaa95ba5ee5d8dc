package datasets

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// maxPlanetoidBytes is the largest file; PubMed's allx has 7.6 MB.
const maxPlanetoidBytes = 16 << 20

// planetoidGraph makes a graph from the files of Yang et al. (2016), as PyTorch Geometric does: allx and tx have
// features, ally and ty labels, graph the neighbours. The first nodes are the rows of allx; row i of tx is the node in
// line i of test.index. Numbers that it skips (on CiteSeer) are isolated nodes without features, of label 0. The splits
// are the [PaperSplits].
func planetoidGraph(name string, read func(part string) ([]byte, error)) (g *graphs.Graph, err error) {
	defer returned(&err)
	parse := func(part string, use func(content []byte)) {
		content := must(read(part))
		err := func() (err error) {
			defer returned(&err)
			use(content)
			return nil
		}()
		if err != nil {
			refuse("file ind.%s.%s %w", name, part, err)
		}
	}
	var allx, tx *csr
	var ally, ty []int32
	var tests []int
	var adjacency []graphs.Edge
	parse("allx", func(b []byte) { allx = pickledCSR(must(unpickle(b))) })
	parse("tx", func(b []byte) { tx = pickledCSR(must(unpickle(b))) })
	parse("ally", func(b []byte) { ally = oneHot(must(unpickle(b))) })
	parse("ty", func(b []byte) { ty = oneHot(must(unpickle(b))) })
	parse("test.index", func(b []byte) { tests = testIndex(b) })
	parse("graph", func(b []byte) { adjacency = neighbours(must(unpickle(b))) })

	fail := func(format string, args ...any) {
		refuse("the Planetoid files of %s do not fit together: %w; fetch them again", name, fmt.Errorf(format, args...))
	}
	if allx.columns != tx.columns || allx.rows != len(ally) || tx.rows != len(ty) || tx.rows != len(tests) {
		fail("allx is %dx%d with %d labels, tx %dx%d with %d labels and %d numbers",
			allx.rows, allx.columns, len(ally), tx.rows, tx.columns, len(ty), len(tests))
	}
	n, d := allx.rows, allx.columns
	for _, t := range tests {
		// test.index may skip a few numbers; but memory grows with the largest, which is therefore limited.
		if t < allx.rows || t-allx.rows > 2*len(tests) {
			fail("test node %d, but %d test nodes should follow the %d of allx", t, len(tests), allx.rows)
		}
		n = max(n, t+1)
	}
	if err := cmp.Or(checkNodes(n), checkDense(n, d)); err != nil {
		fail("%w", err)
	}
	features, labels := make([]float32, n*d), make([]int32, n)
	allx.each(func(row, column int, value float32) { features[row*d+column] = value })
	tx.each(func(row, column int, value float32) { features[tests[row]*d+column] = value })
	copy(labels, ally)
	for i, t := range tests {
		labels[t] = ty[i]
	}
	classes := 0
	for _, l := range labels {
		classes = max(classes, int(l)+1)
	}
	for i, e := range adjacency {
		if int(max(e[0], e[1])) >= n {
			fail("edge %d joins nodes %d and %d, but nodes are numbered 0 to %d", i, e[0], e[1], n-1)
		}
	}
	return graphs.New(name, n, adjacency, features, d, labels, classes, PaperSplits(n))
}

// oneHot reads labels from a pickled matrix: the first column with the largest value of each row.
func oneHot(v any) []int32 {
	a := pickledArray(v)
	if len(a.Shape) != 2 || a.Shape[1] < 1 || a.Shape[1] > maxClasses {
		refuse("has the shape %v; one row per node and one column per class are needed", a.Shape)
	}
	labels, rest := make([]int32, a.Shape[0]), must(a.Int64s())
	for i := range labels {
		row := rest[:a.Shape[1]]
		labels[i] = int32(slices.Index(row, slices.Max(row)))
		rest = rest[len(row):]
	}
	return labels
}

// testIndex reads the test nodes, one a line; twice the same is an error.
func testIndex(b []byte) (index []int) {
	seen := map[int]bool{}
	for field := range bytes.FieldsSeq(b) {
		t, err := strconv.Atoi(string(field))
		if err != nil || seen[t] {
			refuse("lists %q, which is no number or stands there twice", truncate(field))
		}
		seen[t] = true
		index = append(index, t)
	}
	return index
}

// neighbours reads a pickled dictionary with the neighbours of each node.
func neighbours(v any) (edges []graphs.Edge) {
	for pair := range slices.Chunk(pickledObject(v, "a dictionary of neighbours", "collections defaultdict").items, 2) {
		list := pickledObject(pair[1], "lists of neighbours", pickledList).items
		// A pickle can name one list many times, so that a small file could fill the memory. Real files have an
		// instruction for each neighbour.
		if len(edges)+len(list) > maxPickleOps {
			refuse("lists more than %d neighbours, the limit", maxPickleOps)
		}
		for _, neighbour := range list {
			from, ok1 := pair[0].(int64)
			to, ok2 := neighbour.(int64)
			if !ok1 || !ok2 || min(from, to) < 0 || max(from, to) >= maxDim {
				refuse("joins what are not node numbers")
			}
			edges = append(edges, graphs.Edge{int32(from), int32(to)})
		}
	}
	return edges
}

func truncate[T ~string | ~[]byte](s T) string {
	if len(s) > 40 {
		return string(s[:40]) + "…"
	}
	return string(s)
}
