package sparse

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Pattern is a sparse matrix without its weights: it says where the entries are, and a model computes their values. The
// entries are the edges of a graph. An array of edge values has shape [places, k]: it has one row for each place, and a
// place holds either an entry or padding. See [Pattern.Places] and [Edges].
type Pattern struct {
	rows, columns Order
	copies        int
	symmetric     bool
	forward       *laid
	backward      *laid // the transpose: forward itself if the pattern is symmetric; nil unless made ForGradients
	options       PatternOptions
}

// Use says which operations a [Pattern] is for. Only the arrays that these operations need are made, passed to the
// program and kept in memory.
type Use uint

const (
	// ForGradients allows the operations of [Edges], and Dots, Transpose and Softmax of [BareEdges]. It is the
	// default.
	ForGradients Use = 1 << iota
	// ForLoopAttention allows the operations that attention in loop bodies needs: Sources, Targets, and Products of two
	// pairs, all methods of [BareEdges].
	ForLoopAttention
	// ForDiagonal allows [BareEdges.Diagonal].
	ForDiagonal
)

// PatternOptions say how a pattern is laid out. The zero value is for [Edges] within one graph.
type PatternOptions struct {
	// Uses say which operations are wanted; 0 is ForGradients.
	Uses Use
	// Heads is the number of copies that every node gets, one for each attention head; 0 stands for 1. The pattern then
	// has n*heads rows. Copy k of node i is row i*heads + k; its neighbours are the copies k of i's neighbours. An
	// array [n, heads*d] is reshaped to [n*heads, d], each head has edges of its own, and programs do not grow with the
	// number of heads. (There is another way to have several heads, without copies: edge values of several columns,
	// [places, heads]. It is several times slower in products of wide heads, and twice as fast for heads of 8 columns.)
	Heads int
	// Order is the order of the rows and, unless Bipartite is set, of the columns. If it is nil, rows are ordered by
	// their numbers of entries, as in [NewMatrix].
	Order Order
	// Bipartite says that rows and columns are different sets of nodes. The rows are then in the order Order, and the
	// columns in the order Columns. A nil order stands for [AsGiven].
	Bipartite bool
	Columns   Order
}

// NewPattern makes the pattern of a matrix's entries. It ignores their weights.
func NewPattern(a *CSR, o PatternOptions) (*Pattern, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if a.Entries() == 0 {
		return nil, fmt.Errorf("sparse pattern: the matrix has no entries, so that there are no edges to compute for")
	}
	if o.Uses == 0 {
		o.Uses = ForGradients
	}
	p := &Pattern{copies: max(1, o.Heads), options: o}
	if err := p.chooseOrders(a); err != nil {
		return nil, err
	}
	edges := *a
	edges.Weight = ones(a.Entries())
	p.symmetric = !o.Bipartite && edges.Symmetric()
	p.forward = &laid{sliced: slice(&edges, p.copies, p.rows, p.columns.positions(), Computed)}
	p.forward.base()
	add(&p.forward.arrays, weight, p.forward.weight)
	p.forward.reorder(p.rows, p.copies)
	if !slices.Equal(p.rows, p.forward.order) {
		add(&p.forward.arrays, fromOrder, copied(rowsIn(p.rows, p.forward.order), p.copies))
	}
	if o.Uses&(ForGradients|ForLoopAttention) != 0 {
		p.addRows()
	}
	if o.Uses&ForGradients != 0 {
		p.addGradients(&edges)
	}
	if o.Uses&ForLoopAttention != 0 {
		p.addLoopAttention()
	}
	if o.Uses&ForDiagonal != 0 {
		return p, p.addDiagonal()
	}
	return p, nil
}

// chooseOrders sets the orders of rows and columns as [PatternOptions] describes.
func (p *Pattern) chooseOrders(a *CSR) error {
	p.rows, p.columns = p.options.Order, p.options.Columns
	switch {
	case p.options.Bipartite:
		if p.rows == nil {
			p.rows = AsGiven(a.Rows)
		}
		if p.columns == nil {
			p.columns = AsGiven(a.Columns)
		}
	case a.Rows != a.Columns:
		return fmt.Errorf("sparse pattern: %d x %d, but edges within a graph make a square; "+
			"between two sets of nodes, set Bipartite", a.Rows, a.Columns)
	case p.columns != nil:
		return fmt.Errorf("sparse pattern: an order of the columns was given for edges within a graph: " +
			"set Order alone, or Bipartite")
	default:
		if p.rows == nil {
			p.rows = a.byLength(AsGiven(a.Rows))
		}
		p.columns = p.rows
	}
	if err := p.rows.check(a.Rows); err != nil {
		return err
	}
	return p.columns.check(a.Columns)
}

// addGradients adds the arrays that derivatives read: the layout of the transpose, unless the pattern is symmetric; for
// each chunk of a long row, the row that it belongs to; and for each place of the transpose, the place of the same
// entry in the pattern.
func (p *Pattern) addGradients(a *CSR) {
	t, from := a.transposed()
	p.backward = p.forward
	if !p.symmetric {
		t.Weight = a.Weight
		p.backward = &laid{sliced: slice(t, p.copies, p.columns, p.rows.positions(), Computed)}
		p.backward.base()
		add(&p.backward.arrays, weight, p.backward.weight)
		p.backward.reorder(p.columns, p.copies)
		add(&p.backward.arrays, owner, p.backward.owner)
	}
	add(&p.forward.arrays, owner, p.forward.owner)
	add(&p.backward.arrays, mirror, p.mirrorImages(from))
}

// mirrorImages lists, for each place of the transpose, the place of the same entry in the pattern. Entry e of the
// transpose is entry from[e] of the pattern. A place of padding is mapped to itself if the pattern is symmetric, or
// else to place 0.
func (p *Pattern) mirrorImages(from []int32) []int32 {
	number := func(l *laid, place int, entry int32) int {
		return int(entry)*p.copies + int(l.column[place])%p.copies
	}
	at := make([]int32, len(from)*p.copies)
	for place, e := range p.forward.entry {
		if e >= 0 {
			at[number(p.forward, place, e)] = int32(place)
		}
	}
	mirrored := make([]int32, len(p.backward.entry))
	for place, e := range p.backward.entry {
		if e >= 0 {
			mirrored[place] = at[number(p.backward, place, from[e])]
		} else if p.Symmetric() {
			mirrored[place] = int32(place)
		}
	}
	return mirrored
}

// addRows adds the array that holds, for each place, the row that the place belongs to.
func (p *Pattern) addRows() {
	f := p.forward
	rows := f.rowOf()
	if !slices.Equal(p.rows, f.order) {
		back := copied(rowsIn(p.rows, f.order), p.copies)
		for i, r := range rows {
			rows[i] = back[r]
		}
	}
	add(&f.arrays, rowOf, rows)
}

// addLoopAttention adds the arrays of columns that [BareEdges.Products] needs to compute two products at once.
func (p *Pattern) addLoopAttention() {
	f := p.forward
	add(&f.arrays, columnTwin, f.column)
	if p.copies > 1 {
		nodes := make([]int32, len(f.column))
		for i, c := range f.column {
			nodes[i] = c / int32(p.copies)
		}
		add(&f.arrays, node, nodes)
	}
}

// addDiagonal adds the array that is 1 at places on the diagonal, and 0 at all others.
func (p *Pattern) addDiagonal() error {
	if p.options.Bipartite {
		return fmt.Errorf("sparse pattern: there is no diagonal between two sets of nodes")
	}
	f := p.forward
	marks := make([]float32, len(f.column))
	for i, r := range f.rowOf() {
		// v and c are the row and the column of place i, as copies of nodes in the graph's own numbering. Rows are
		// numbered by length, and columns by their positions in the order.
		v := f.order[int(r)/p.copies]*int32(p.copies) + r%int32(p.copies)
		c := p.columns[int(f.column[i])/p.copies]*int32(p.copies) + f.column[i]%int32(p.copies)
		if f.entry[i] >= 0 && v == c {
			marks[i] = 1
		}
	}
	add(&f.arrays, diagonal, marks)
	return nil
}

// Heads is the number of copies of each node.
func (p *Pattern) Heads() int { return p.copies }

// Size is the number of rows: nodes times heads.
func (p *Pattern) Size() int { return p.forward.sliced.rows }

// Places is the number of places, of entries and of padding. Every array of edge values has so many rows.
func (p *Pattern) Places() int { return len(p.forward.sliced.column) }

// Symmetric tells whether there is an entry (j, i) for every entry (i, j). Bipartite patterns are never symmetric.
func (p *Pattern) Symmetric() bool { return p.symmetric }

// Order is the order of the nodes that are rows. It lists each node once, also if nodes have several copies. Columns
// are in the same order unless the pattern is bipartite.
func (p *Pattern) Order() Order { return p.rows }

// Tensors are the arrays to pass as arguments to a program that uses the pattern. Inside the program, give the nodes
// that stand for them to [Pattern.On] or [Pattern.Bare].
func (p *Pattern) Tensors() []*tensors.Tensor {
	if p.backward == nil || p.symmetric {
		return p.forward.tensors
	}
	return slices.Concat(p.forward.tensors, p.backward.tensors)
}

// Keeping drops some of the edges. It takes the nodes that hold [Pattern.Tensors], and returns the nodes to give to
// [Pattern.Bare] instead. keep has shape [places, 1]: an entry stays where keep is 1, and becomes padding where keep is
// 0. The pattern must be symmetric. keep should drop both directions of an edge or neither: otherwise operations that
// use the transpose return values other than 0 for edges that were dropped.
func (p *Pattern) Keeping(nodes []*Node, keep *Node) []*Node {
	if !p.symmetric {
		panic(fmt.Errorf("sparse pattern: Keeping needs every edge in both directions"))
	}
	nodes = slices.Clone(nodes)
	at := slices.Index(p.forward.names, weight)
	nodes[at] = Mul(nodes[at], keep)
	return nodes
}

// Spread copies values of entries to the entries' places. values has a row of width numbers for each entry, in the
// order of the CSR matrix. All heads get the same values, and padding gets zeros. Values that are in the order of the
// list given to [FromEdges] must first be reordered by CSR.Edge.
func Spread[T any](p *Pattern, values []T, width int) []T {
	out := make([]T, p.Places()*width)
	for place, e := range p.forward.entry {
		if e >= 0 {
			copy(out[place*width:(place+1)*width], values[int(e)*width:(int(e)+1)*width])
		}
	}
	return out
}

// Collect does the reverse of [Spread]: it takes values of places, and returns the values of entries in the order of
// the CSR matrix. Row e*heads + k of the result belongs to entry e of head k.
func Collect[T any](p *Pattern, values []T, width int) []T {
	var out []T
	for place, e := range p.forward.entry {
		if e >= 0 {
			at := (int(e)*p.copies + int(p.forward.sliced.column[place])%p.copies) * width
			if need := at + width; need > len(out) {
				out = append(out, make([]T, need-len(out))...)
			}
			copy(out[at:at+width], values[place*width:(place+1)*width])
		}
	}
	return out
}
