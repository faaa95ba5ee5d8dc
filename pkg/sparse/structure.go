package sparse

import (
	"fmt"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Structure is the pattern of a sparse symmetric matrix, for operators whose weights are computed: a vector with one entry
// for each stored place, in the order of the layout, [Structure.Places] in all, padding included. Padding has weight zero.
//
// It is a [Matrix] of ones that carries three more arrays: of each place the place of its mirror image; which places lie on
// the diagonal; of each chunk of a long row its row.
type Structure struct {
	*Matrix
	places int
	// The numbers of the arrays in Tensors.
	mirror, diagonal, owner int
}

// SelfLoops is the pattern of A + I: each node's neighbours and itself.
func SelfLoops(g *graphs.Graph) (*Structure, error) {
	m, err := Neighbourhoods(g)
	if err != nil {
		return nil, err
	}
	return structured(m)
}

// structured adds the arrays to a matrix.
func structured(m *Matrix) (*Structure, error) {
	s := &Structure{Matrix: m, mirror: len(m.tensors), diagonal: len(m.tensors) + 1, owner: len(m.tensors) + 2}
	var entries []entry
	var diagonal []float32
	for e, weight := range m.places() {
		s.places++
		diagonal = append(diagonal, 0)
		if weight == 0 {
			continue
		}
		entries = append(entries, e)
		if e.row == e.column {
			diagonal[e.place] = 1
		}
	}
	// The mirror image of the i-th entry by row and column is the i-th by column and row.
	order := func(major, minor func(entry) int32) []entry { return counted(counted(entries, minor, m.n), major, m.n) }
	row, column := func(e entry) int32 { return e.row }, func(e entry) int32 { return e.column }
	mirror := make([]int32, s.places)
	for i := range mirror {
		mirror[i] = int32(i) // padding is its own mirror image
	}
	mirrored := order(column, row)
	for i, e := range order(row, column) {
		if e.row != mirrored[i].column || e.column != mirrored[i].row {
			return nil, fmt.Errorf("sparse matrix: there is an entry (%d, %d) without one at (%d, %d), but the pattern must be symmetric", m.order[e.row], m.order[e.column], m.order[e.column], m.order[e.row])
		}
		mirror[e.place] = mirrored[i].place
	}
	chunks := m.owner
	if len(chunks) == 0 {
		chunks = []int32{0} // not used: an array must not be empty
	}
	m.tensors = append(m.tensors, tensors.FromFlatDataAndDimensions(mirror, s.places, 1),
		tensors.FromFlatDataAndDimensions(diagonal, s.places, 1), tensors.FromFlatDataAndDimensions(chunks, len(chunks), 1))
	return s, nil
}

// counted sorts entries by a key below n; those of one key stay in order. (A counting sort: ten times faster than comparing
// on ten million edges.)
func counted(entries []entry, key func(entry) int32, n int) []entry {
	from := make([]int, n+1)
	for _, e := range entries {
		from[key(e)+1]++
	}
	for i := range n {
		from[i+1] += from[i]
	}
	sorted := make([]entry, len(entries))
	for _, e := range entries {
		k := key(e)
		sorted[from[k]] = e
		from[k]++
	}
	return sorted
}

// Places is the number of stored places, entries and padding.
func (s *Structure) Places() int { return s.places }
