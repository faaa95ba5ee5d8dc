package datasets

import (
	"cmp"
	"fmt"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
)

// maxDense is the most values of a dense matrix made from a sparse one, whose shape a small file could overstate.
const maxDense = 1 << 26

// csr is a sparse matrix by compressed rows: row r has data[indptr[r]:indptr[r+1]] in the columns indices[…].
type csr struct {
	rows, columns   int
	indptr, indices []int64
	data            []float32
}

// newCSR checks that the arrays fit together.
func newCSR(shape, indptr, indices []int64, data []float32) (*csr, error) {
	if len(shape) != 2 || min(shape[0], shape[1]) < 0 || max(shape[0], shape[1]) > maxDim {
		return nil, fmt.Errorf("has the shape %v; two dimensions below 2^31 are needed", shape)
	}
	if int64(len(indptr)) != shape[0]+1 || indptr[0] != 0 || len(indices) != len(data) ||
		indptr[shape[0]] != int64(len(indices)) {
		return nil, fmt.Errorf("has %d row pointers, %d column numbers and %d values, which do not fit the shape %v",
			len(indptr), len(indices), len(data), shape)
	}
	for r := range shape[0] {
		if indptr[r] > indptr[r+1] {
			return nil, fmt.Errorf("has row pointers that go down at row %d", r)
		}
	}
	for _, c := range indices {
		if c < 0 || c >= shape[1] {
			return nil, fmt.Errorf("has the column number %d, but columns are numbered 0 to %d", c, shape[1]-1)
		}
	}
	return &csr{int(shape[0]), int(shape[1]), indptr, indices, data}, nil
}

func (m *csr) each(f func(row, column int, value float32)) {
	for r := range m.rows {
		for k := m.indptr[r]; k < m.indptr[r+1]; k++ {
			f(r, int(m.indices[k]), m.data[k])
		}
	}
}

func checkDense(rows, columns int) error {
	if columns > 0 && rows > maxDense/columns {
		return fmt.Errorf("%d x %d features are more than the limit of %d values", rows, columns, maxDense)
	}
	return nil
}

// benchmarkGraph reads an archive of gnn-benchmark (Shchur et al. 2018): adjacency (adj_data, adj_indices, adj_indptr,
// adj_shape) and features (attr_…) as sparse matrices, labels. As in PyTorch Geometric and the paper, edges lose
// direction and weight, self loops go, positive features become 1. The splits are the [PaperSplits].
func benchmarkGraph(z *npz.File, name string) (g *graphs.Graph, err error) {
	defer returned(&err)
	matrix := func(prefix string) *csr {
		shape, indptr := values(z.Int64s(prefix+"_shape", 1)), values(z.Int64s(prefix+"_indptr", 1))
		indices, data := values(z.Int64s(prefix+"_indices", 1)), values(z.Float32s(prefix+"_data", 1))
		m, err := newCSR(shape, indptr, indices, data)
		if err != nil {
			refuse("%s: the matrix %q %w", z.Path, prefix, err)
		}
		return m
	}
	adjacency, attributes := matrix("adj"), matrix("attr")
	n, d := attributes.rows, attributes.columns
	if adjacency.rows != n || adjacency.columns != n {
		refuse("%s: the adjacency is %d x %d, but %d nodes have features", z.Path, adjacency.rows, adjacency.columns, n)
	}
	if err := cmp.Or(checkNodes(n), checkDense(n, d)); err != nil {
		refuse("%s: %w", z.Path, err)
	}
	labels, classes := npzLabels(z, "labels", n, noneUnknown)
	edges := make([]graphs.Edge, 0, len(adjacency.data))
	adjacency.each(func(row, column int, _ float32) {
		edges = append(edges, graphs.Edge{int32(row), int32(column)})
	})
	features := make([]float32, n*d)
	attributes.each(func(row, column int, value float32) {
		if value > 0 {
			value = 1
		}
		features[row*d+column] = value
	})
	return wrap(z.Path)(graphs.New(name, n, edges, features, d, labels, classes, PaperSplits(n)))
}
