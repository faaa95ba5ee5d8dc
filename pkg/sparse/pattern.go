package sparse

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"
)

// Pattern is a sparse matrix without weights: the edges of a graph, for which a model computes values, [places, k]. The
// operations are methods of [Edges] and of [BareEdges].
type Pattern struct {
	rows, columns Order
	copies        int
	symmetric     bool
	forward       *sliced
	backward      *sliced // the transpose; equal to forward if the pattern is symmetric; nil unless made ForGradients
	options       PatternOptions
}

// Use says which operations a [Pattern] is for. Only the arrays that these need are made.
type Use uint

const (
	// ForGradients is the default: all methods of [Edges], and Dots, Transpose and Softmax of [BareEdges].
	ForGradients Use = 1 << iota
	// ForLoopAttention is for Sources, Targets and Products of [BareEdges] in loop bodies, with two products at once.
	ForLoopAttention
	// ForDiagonal is for [BareEdges.Diagonal].
	ForDiagonal
)

// PatternOptions are the settings of [NewPattern]; zero is for edges within one graph, without copies, and [Edges].
type PatternOptions struct {
	// Uses says which operations the pattern is for; 0 stands for ForGradients.
	Uses Use
	// Heads is the number of copies of every node, one for each attention head; 0 is 1. Copy k of the node at position
	// i is row i*Heads + k, and joins copies k: features [n, Heads*d] must be reshaped to [n*Heads, d]. The program
	// does not grow with Heads.
	//
	// Without copies, give edges one value per head, [places, heads]. That is twice as fast for heads of 8 columns, and
	// several times slower for many more.
	Heads int
	// Order is that of the rows and, unless Bipartite, of the columns; nil is the order by length, as in [NewMatrix].
	Order Order
	// Bipartite says that rows and columns are different sets; columns, and without Order also rows, are as given.
	Bipartite bool
	Layout    Layout
}

// NewPattern makes a pattern with the entries of the matrix a. It ignores their weights.
func NewPattern(a *CSR, o PatternOptions) (*Pattern, error) {
	if err := a.Validate(); err != nil {
		return nil, err
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
	f := slice(&edges, p.copies, p.rows, p.columns, o.Layout.computed(), true)
	p.forward = f
	back := copied(rowsIn(p.rows, f.order), p.copies)
	if !slices.Equal(p.rows, f.order) {
		add(&f.arrays, fromOrder, back)
	}
	if o.Uses&(ForGradients|ForLoopAttention) != 0 { // the row of each place, in the model's order
		rows := f.rowOf()
		for i, r := range rows {
			rows[i] = back[r]
		}
		add(&f.arrays, rowOf, rows)
	}
	if o.Uses&ForGradients != 0 {
		p.addGradients(&edges)
	}
	if o.Uses&ForLoopAttention != 0 {
		add(&f.arrays, columnAgain, f.column) // for two products at once; see [BareEdges.Products]
		if p.copies > 1 {
			nodes := make([]int32, len(f.column))
			for i, c := range f.column {
				nodes[i] = c / int32(p.copies)
			}
			add(&f.arrays, node, nodes)
		}
	}
	if o.Uses&ForDiagonal != 0 {
		return p, p.addDiagonal()
	}
	return p, nil
}

func (p *Pattern) chooseOrders(a *CSR) error {
	p.rows = p.options.Order
	switch {
	case p.options.Bipartite:
		p.rows, p.columns = p.rows.or(a.Rows), AsGiven(a.Columns)
	case a.Rows != a.Columns:
		return fmt.Errorf("sparse pattern: %d x %d, but edges within a graph make a square; "+
			"between two sets of nodes, set Bipartite", a.Rows, a.Columns)
	default:
		if p.rows == nil {
			p.rows = a.byLength(AsGiven(a.Rows))
		}
		p.columns = p.rows
	}
	return p.rows.check(a.Rows)
}

// addGradients adds what derivatives need: the transpose unless the pattern is symmetric, the row of each chunk
// (owner), and for each place of the transpose the pattern's place of the same entry (mirror).
func (p *Pattern) addGradients(a *CSR) {
	t, from := a.transposed()
	p.backward = p.forward
	if !p.symmetric {
		t.Weight = a.Weight
		p.backward = slice(t, p.copies, p.columns, p.rows, p.options.Layout.computed(), true)
		add(&p.backward.arrays, owner, p.backward.owner)
	}
	add(&p.forward.arrays, owner, p.forward.owner)
	add(&p.backward.arrays, mirror, p.mirrorImages(from))
}

// mirrorImages is the array mirror. Entry e of the transpose is entry from[e] of the pattern. Padding points to itself
// if the pattern is symmetric, else to 0.
func (p *Pattern) mirrorImages(from []int32) []int32 {
	number := func(l *sliced, place int, entry int32) int {
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

// addDiagonal adds the array that is 1 at entries on the diagonal.
func (p *Pattern) addDiagonal() error {
	if p.options.Bipartite {
		return fmt.Errorf("sparse pattern: there is no diagonal between two sets of nodes")
	}
	f := p.forward
	marks := make([]float32, len(f.column))
	for i, r := range f.rowOf() {
		// Row v and column c of the place: copy k of node j is j*copies + k. (r and f.column[i] are positions in other
		// orders.)
		v := f.order[int(r)/p.copies]*int32(p.copies) + r%int32(p.copies)
		c := p.columns[int(f.column[i])/p.copies]*int32(p.copies) + f.column[i]%int32(p.copies)
		if f.entry[i] >= 0 && v == c {
			marks[i] = 1
		}
	}
	add(&f.arrays, diagonal, marks)
	return nil
}

func (p *Pattern) Size() int { return p.forward.rows }

func (p *Pattern) Places() int { return len(p.forward.column) }

// Symmetric tells whether there is (j, i) for every (i, j). Bipartite patterns are never symmetric.
func (p *Pattern) Symmetric() bool { return p.symmetric }

// Order is the order of the nodes that are rows, without copies.
func (p *Pattern) Order() Order { return p.rows }

// Tensors are the arguments of a program that uses the pattern; [Pattern.On] takes the nodes that stand for them.
func (p *Pattern) Tensors() []*tensors.Tensor {
	return tensorsOf(p.forward, cmp.Or(p.backward, p.forward))
}

// Spread copies values of entries, rows of the given width in the order of the [CSR], to their places. All heads get
// the same values, padding zeros.
func Spread[T any](p *Pattern, values []T, width int) []T {
	out := make([]T, p.Places()*width)
	for place, e := range p.forward.entry {
		if e >= 0 {
			copy(out[place*width:(place+1)*width], values[int(e)*width:(int(e)+1)*width])
		}
	}
	return out
}
