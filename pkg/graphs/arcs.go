package graphs

import (
	"cmp"
	"fmt"
	"slices"
)

// Arc is a directed edge from its first node to its second, possibly the same.
type Arc [2]int32

// WithArcs returns a directed graph that shares g's other data. Each edge of g needs an arc in one direction or both;
// other arcs must be self loops; repeated ones are dropped.
func (g *Graph) WithArcs(arcs []Arc) (*Graph, error) {
	out := *g
	out.ArcsMissing = ""
	out.Arcs = slices.Clone(arcs)
	slices.SortFunc(out.Arcs, compare)
	out.Arcs = slices.Compact(out.Arcs)
	return &out, out.checkArcs()
}

// Undirected is the graph without directions.
func (g *Graph) Undirected() *Graph {
	out := *g
	out.Arcs, out.ArcsMissing = nil, ""
	return &out
}

func (g *Graph) Directed() bool { return len(g.Arcs) > 0 }

func compare[E Edge | Arc](a, b E) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
}

// checkArcs returns an error unless the arcs are sorted and, but for self loops, join the same pairs as the edges.
func (g *Graph) checkArcs() error {
	ends := make([]Edge, len(g.Arcs))
	for i, a := range g.Arcs {
		if min(a[0], a[1]) < 0 || int(max(a[0], a[1])) >= g.NumNodes {
			return fmt.Errorf("graph %q: arc %d leads from node %d to %d, but nodes are numbered 0 to %d",
				g.Name, i, a[0], a[1], g.NumNodes-1)
		}
		if i > 0 && compare(g.Arcs[i-1], a) >= 0 {
			return fmt.Errorf("graph %q: arc %d (%d, %d) is out of order; give a graph its arcs by WithArcs",
				g.Name, i, a[0], a[1])
		}
		ends[i] = Edge(a)
	}
	if !slices.Equal(canonical(ends), g.Edges) {
		return fmt.Errorf("graph %q: its %d arcs do not join the same nodes as its %d edges; "+
			"every edge needs an arc in one direction or both, and there can be no others",
			g.Name, len(g.Arcs), len(g.Edges))
	}
	return nil
}
