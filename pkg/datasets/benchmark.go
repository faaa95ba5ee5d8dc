package datasets

import (
	"cmp"
	"fmt"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
)

// maxDense is the largest number of values in a dense feature matrix that is made from a sparse one. Without a limit, a
// small file could state a huge shape, and a huge amount of memory would be allocated.
const maxDense = 1 << 26

// csr is a sparse matrix in the format CSR (compressed sparse row). The values of row r are
// data[indptr[r]:indptr[r+1]], and their columns are indices[indptr[r]:indptr[r+1]].
type csr struct {
	rows, columns   int
	indptr, indices []int64
	data            []float32
}

// newCSR makes a sparse matrix from its shape and the arrays of the format CSR (compressed sparse row). It returns an
// error if the arrays do not fit together.
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

// each calls f for every stored value, row by row. The arguments of f are the row, the column and the value.
func (m *csr) each(f func(row, column int, value float32)) {
	for r := range m.rows {
		for k := m.indptr[r]; k < m.indptr[r+1]; k++ {
			f(r, int(m.indices[k]), m.data[k])
		}
	}
}

// checkDense returns an error if a dense matrix of rows x columns has more than maxDense values.
func checkDense(rows, columns int) error {
	if columns > 0 && rows > maxDense/columns {
		return fmt.Errorf("%d x %d features are more than the limit of %d values", rows, columns, maxDense)
	}
	return nil
}

// benchmarkGraph reads an archive from gnn-benchmark, the repository of Shchur et al. (2018). The archive has two
// sparse matrices: the adjacency matrix and the feature matrix. The adjacency matrix consists of the four arrays
// adj_data, adj_indices, adj_indptr and adj_shape. The names of the feature matrix's four arrays begin with attr_
// instead of adj_. The array labels has the classes of the nodes.
//
// PyTorch Geometric and the paper change the graph, and benchmarkGraph changes it in the same way. Edges lose their
// direction and weight, self loops are dropped, and positive features become 1. The graph gets the ten [PaperSplits].
func benchmarkGraph(z *npz.File, name string) (*graphs.Graph, error) {
	adjacency, err := npzCSR(z, "adj")
	if err != nil {
		return nil, err
	}
	attributes, err := npzCSR(z, "attr")
	if err != nil {
		return nil, err
	}
	n, d := attributes.rows, attributes.columns
	if adjacency.rows != n || adjacency.columns != n {
		return nil, fmt.Errorf("%s: the adjacency is %d x %d, but %d nodes have features",
			z.Path, adjacency.rows, adjacency.columns, n)
	}
	if err := cmp.Or(checkNodes(n), checkDense(n, d)); err != nil {
		return nil, fmt.Errorf("%s: %w", z.Path, err)
	}
	labels, classes, err := npzLabels(z, "labels", n)
	if err != nil {
		return nil, err
	}
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

// npzCSR reads a sparse matrix, which an archive stores in four arrays. For the prefix "adj", these are the arrays
// adj_shape, adj_indptr, adj_indices and adj_data.
func npzCSR(z *npz.File, prefix string) (*csr, error) {
	shape, _, err := z.Int64s(prefix+"_shape", 1)
	if err != nil {
		return nil, err
	}
	indptr, _, err := z.Int64s(prefix+"_indptr", 1)
	if err != nil {
		return nil, err
	}
	indices, _, err := z.Int64s(prefix+"_indices", 1)
	if err != nil {
		return nil, err
	}
	data, _, err := z.Float32s(prefix+"_data", 1)
	if err != nil {
		return nil, err
	}
	m, err := newCSR(shape, indptr, indices, data)
	if err != nil {
		return nil, fmt.Errorf("%s: the matrix %q %w", z.Path, prefix, err)
	}
	return m, nil
}
