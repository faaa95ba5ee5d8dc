package datasets

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// maxPlanetoidBytes is the largest file; PubMed's allx has 7.6 MB.
const maxPlanetoidBytes = 16 << 20

// planetoidGraph makes a graph from the files of Yang et al. (2016), as PyTorch Geometric does: allx and tx have
// features, ally and ty labels, graph the neighbours. The first nodes are the rows of allx; row i of tx is the node in
// line i of test.index. Numbers that it skips (on CiteSeer) are isolated nodes without features, of label 0. The splits
// are the [PaperSplits].
func planetoidGraph(name string, part func(string) ([]byte, error)) (*graphs.Graph, error) {
	p := planetoidReader{name: name, part: part}
	allx, tx := p.matrix("allx"), p.matrix("tx")
	ally, ty := p.oneHot("ally"), p.oneHot("ty")
	tests := p.testIndex()
	adjacency := p.adjacency()
	if p.err != nil {
		return nil, p.err
	}
	fail := func(format string, args ...any) (*graphs.Graph, error) {
		return nil, fmt.Errorf("the Planetoid files of %s do not fit together: %s; fetch them again",
			name, fmt.Sprintf(format, args...))
	}
	if allx.columns != tx.columns || allx.rows != len(ally) || tx.rows != len(ty) || tx.rows != len(tests) {
		return fail("allx is %dx%d with %d labels, tx %dx%d with %d labels and %d numbers",
			allx.rows, allx.columns, len(ally), tx.rows, tx.columns, len(ty), len(tests))
	}
	n, d := allx.rows, allx.columns
	for _, t := range tests {
		// test.index may skip a few numbers; but memory grows with the largest, which is therefore limited.
		if t < allx.rows || t-allx.rows > 2*len(tests) {
			return fail("test node %d, but %d test nodes should follow the %d of allx", t, len(tests), allx.rows)
		}
		n = max(n, t+1)
	}
	if err := cmp.Or(checkNodes(n), checkDense(n, d)); err != nil {
		return fail("%v", err)
	}
	features, labels := make([]float32, n*d), make([]int32, n)
	copy(labels, ally)
	allx.each(func(row, column int, value float32) { features[row*d+column] = value })
	tx.each(func(row, column int, value float32) { features[tests[row]*d+column] = value })
	classes := 0
	for i, t := range tests {
		labels[t] = ty[i]
	}
	for _, l := range labels {
		classes = max(classes, int(l)+1)
	}
	for i, e := range adjacency {
		if int(max(e[0], e[1])) >= n {
			return fail("edge %d joins nodes %d and %d, but nodes are numbered 0 to %d", i, e[0], e[1], n-1)
		}
	}
	return graphs.New(name, n, adjacency, features, d, labels, classes, PaperSplits(n))
}

// planetoidReader keeps the first error.
type planetoidReader struct {
	name string
	part func(string) ([]byte, error)
	err  error
}

func (p *planetoidReader) read(part string, parse func([]byte) error) {
	if p.err != nil {
		return
	}
	b, err := p.part(part)
	if err != nil {
		p.err = err
	} else if err := parse(b); err != nil {
		p.err = fmt.Errorf("file ind.%s.%s %w", p.name, part, err)
	}
}

func (p *planetoidReader) matrix(part string) *csr {
	m := &csr{}
	p.read(part, func(b []byte) (err error) {
		v, err := unpickle(b)
		if err == nil {
			m, err = pickledCSR(v)
		}
		return err
	})
	return m
}

// oneHot reads labels from a pickled matrix: the first column with the largest value of each row.
func (p *planetoidReader) oneHot(part string) (labels []int32) {
	p.read(part, func(b []byte) error {
		v, err := unpickle(b)
		if err != nil {
			return err
		}
		a, err := pickledArray(v)
		if err != nil {
			return err
		}
		if len(a.Shape) != 2 || a.Shape[1] < 1 || a.Shape[1] > maxClasses {
			return fmt.Errorf("has the shape %v; one row per node and one column per class are needed", a.Shape)
		}
		values, err := a.Int64s()
		if err != nil {
			return err
		}
		labels = make([]int32, a.Shape[0])
		for i := range labels {
			row := values[i*a.Shape[1] : (i+1)*a.Shape[1]]
			for c, x := range row {
				if x > row[labels[i]] {
					labels[i] = int32(c)
				}
			}
		}
		return nil
	})
	return labels
}

// testIndex reads the test nodes, one a line; twice the same is an error.
func (p *planetoidReader) testIndex() (index []int) {
	p.read("test.index", func(b []byte) error {
		seen := map[int]bool{}
		for _, field := range bytes.Fields(b) {
			t, err := strconv.Atoi(string(field))
			if err != nil || seen[t] {
				return fmt.Errorf("lists %q, which is no number or stands there twice", truncate(field))
			}
			seen[t] = true
			index = append(index, t)
		}
		return nil
	})
	return index
}

// adjacency reads a pickled dictionary with the neighbours of each node.
func (p *planetoidReader) adjacency() (edges []graphs.Edge) {
	p.read("graph", func(b []byte) error {
		v, err := unpickle(b)
		if err != nil {
			return err
		}
		object, ok := v.(*pickleObject)
		if !ok || object.class != "collections defaultdict" {
			return fmt.Errorf("does not hold a dictionary of neighbours")
		}
		for i, key := range object.items.keys {
			list, ok := object.items.values[i].(*pickleList)
			if !ok {
				return fmt.Errorf("does not hold lists of neighbours")
			}
			// A pickle can name one list many times, so that a small file could fill the memory. Real files have an
			// instruction for each neighbour.
			if len(edges)+len(list.items) > maxPickleOps {
				return fmt.Errorf("lists more than %d neighbours, the limit", maxPickleOps)
			}
			for _, neighbour := range list.items {
				from, ok1 := key.(int64)
				to, ok2 := neighbour.(int64)
				if !ok1 || !ok2 || min(from, to) < 0 || max(from, to) >= maxDim {
					return fmt.Errorf("joins %v and %v, which are not node numbers", key, neighbour)
				}
				edges = append(edges, graphs.Edge{int32(from), int32(to)})
			}
		}
		return nil
	})
	return edges
}

func truncate[T ~string | ~[]byte](s T) string {
	if len(s) > 40 {
		return string(s[:40]) + "…"
	}
	return string(s)
}
