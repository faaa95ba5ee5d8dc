package graphs

import (
	"slices"
	"strings"
	"testing"
)

func TestWithArcs(t *testing.T) {
	plain := checksummed() // has the edges 0-1 and 1-2
	plain.ArcsMissing = "not here"
	g, err := plain.WithArcs([]Arc{{2, 1}, {1, 0}, {2, 2}, {0, 1}, {2, 1}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Arc{{0, 1}, {1, 0}, {2, 1}, {2, 2}}
	if !slices.Equal(g.Arcs, want) || !g.Directed() || g.ArcsMissing != "" {
		t.Errorf("arcs %v (%q), want %v", g.Arcs, g.ArcsMissing, want)
	}
	if plain.Directed() || g.Undirected().Directed() || plain.Undirected().ArcsMissing != "" {
		t.Error("a graph without directions has them")
	}
	if err := g.Validate(); err != nil {
		t.Error(err)
	}
	for want, arcs := range map[string][]Arc{
		"leads from node 3 to 0": {{3, 0}}, "leads from node 0 to -1": {{0, -1}},
		"its 1 arcs do not join": {{0, 1}}, "its 3 arcs do not join": {{0, 1}, {1, 2}, {2, 0}}, "its 0 arcs": nil,
	} {
		if _, err := plain.WithArcs(arcs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("arcs %v: %v, want %q", arcs, err, want)
		}
	}
	g.Arcs[0], g.Arcs[1] = g.Arcs[1], g.Arcs[0]
	if err := g.Validate(); err == nil || !strings.Contains(err.Error(), "arc 1 (0, 1) is out of order") {
		t.Errorf("arcs out of order: %v", err)
	}
}
