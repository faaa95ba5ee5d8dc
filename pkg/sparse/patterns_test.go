package sparse_test

import (
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// patternCase is a pattern p, and two dense matrices, target and source, that say which nodes its edges join. The rows
// of target are in the pattern's order of rows. The rows of source are in the pattern's order of columns. If nodes have
// several copies, the copies of a node are consecutive rows.
type patternCase struct {
	p *sparse.Pattern
	// target has shape [rows, edges]. Its column e is 1 at the target of edge e, and 0 elsewhere. source has shape
	// [columns, edges]. Its column e is 1 at the source of edge e, and 0 elsewhere. Edges are numbered as in the result
	// of [sparse.Collect], which has the values of edge e in row e.
	target, source       []float32
	rows, columns, edges int
	// place[e] is the place of edge e. edge[i] is the edge at place i, or -1 for padding.
	place, edge []int32
}

// patterns are laid out for the engine, and on CPUs those that differ most for GPUs, too.
func patterns(e *engine.Engine) map[string]patternCase {
	layout := sparse.LayoutFor(e.Backend)
	all := patternsFor(layout)
	if layout == sparse.ForCPU {
		gpu := patternsFor(sparse.ForGPU)
		for _, name := range []string{"isolated nodes", "hub of three levels", "heads", "directed with heads"} {
			all[name+", for GPUs"] = gpu[name]
		}
	}
	return all
}

func patternsFor(layout sparse.Layout) map[string]patternCase {
	newCase := func(a *sparse.CSR, o sparse.PatternOptions) patternCase {
		o.Layout = layout
		return newCase(a, o)
	}
	adjacency := func(n, edges, hub int) *sparse.CSR { return sparse.Adjacency(random(4, n, edges, hub)) }
	gathers := sparse.PatternOptions{Order: reversed(60), Uses: sparse.ForGradients | sparse.ForLoopAttention}
	two := sparse.PatternOptions{Bipartite: true, Order: reversed(90)}
	return map[string]patternCase{
		"one node":            newCase(adjacency(1, 0, 0).WithSelfLoops(), sparse.PatternOptions{}),
		"self loops":          newCase(adjacency(50, 100, 20).WithSelfLoops(), sparse.PatternOptions{}),
		"isolated nodes":      newCase(adjacency(50, 20, 0), sparse.PatternOptions{}),
		"hub of three levels": newCase(adjacency(330, 40, 300), sparse.PatternOptions{}),
		"long rows alone":     newCase(sparse.Adjacency(complete(20)), sparse.PatternOptions{}),
		"heads":               newCase(adjacency(40, 60, 30), sparse.PatternOptions{Heads: 3}),
		"symmetric in another order": newCase(adjacency(60, 60, 30),
			sparse.PatternOptions{Order: reversed(60), Heads: 2}),
		"gathers":  newCase(adjacency(60, 60, 30), gathers),
		"directed": newCase(directed(5, 60, 60, 150, 40), sparse.PatternOptions{}),
		"directed with heads": newCase(directed(6, 30, 30, 80, 20),
			sparse.PatternOptions{Order: reversed(30), Heads: 2}),
		"two sets":          newCase(directed(7, 40, 90, 150, 80), sparse.PatternOptions{Bipartite: true}),
		"two sets, ordered": newCase(directed(8, 90, 40, 150, 35), two),
	}
}

func newCase(a *sparse.CSR, o sparse.PatternOptions) patternCase {
	p := must(sparse.NewPattern(a, o))
	heads := p.Heads()
	c := patternCase{p: p, rows: a.Rows * heads, columns: a.Columns * heads, edges: a.Entries() * heads}
	c.target, c.source = make([]float32, c.rows*c.edges), make([]float32, c.columns*c.edges)
	rowAt, columnAt := make([]int, a.Rows), make([]int, a.Columns)
	for position, v := range p.Order() {
		rowAt[v] = position
	}
	columns := p.Order()
	if o.Bipartite {
		columns = sparse.AsGiven(a.Columns)
	}
	for position, v := range columns {
		columnAt[v] = position
	}
	for i := range a.Rows {
		for e := a.Start[i]; e < a.Start[i+1]; e++ {
			for k := range heads {
				c.target[(rowAt[i]*heads+k)*c.edges+e*heads+k] = 1
				c.source[(columnAt[a.Column[e]]*heads+k)*c.edges+e*heads+k] = 1
			}
		}
	}
	places := make([]int32, p.Places())
	for i := range places {
		places[i] = int32(i)
	}
	c.place, c.edge = sparse.Collect(p, places, 1), make([]int32, p.Places())
	for i := range c.edge {
		c.edge[i] = -1
	}
	for e, at := range c.place {
		c.edge[at] = int32(e)
	}
	return c
}
