package models

import (
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// H2GCN is refused if its matrix A2 needs more memory than is free. A2 has an entry for each pair of nodes that are
// exactly two steps apart.
func TestH2GCNIsRefusedWhereMemoryIsShort(t *testing.T) {
	g := &graphs.Graph{Name: "dense", NumNodes: 1000, Edges: make([]graphs.Edge, 5000)}
	refusal := `h2gcn on graph "dense" (1000 nodes, 5000 edges): 900000 pairs of nodes are exactly two steps apart, ` +
		"for which it needs about 62 MiB of memory, but 1 MiB are free"
	for free, want := range map[int64]string{0: "", 65 << 20: "", 1 << 20: refusal} {
		err := admitSecond(g, 900_000, free)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("with %d bytes free: %v, want %q", free, err, want)
		}
	}
}
