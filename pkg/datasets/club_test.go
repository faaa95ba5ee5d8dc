package datasets

import (
	"os"
	"testing"
)

// TestWriteClub checks that a second call of WriteClub writes the same nodes.csv, and that Load reads a graph of the
// expected size. At most an eighth of the edges may join people of the same group.
func TestWriteClub(t *testing.T) {
	dir := t.TempDir()
	paths, err := WriteClub(dir)
	if err != nil || len(paths) != 2 {
		t.Fatal(paths, err)
	}
	first, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := WriteClub(dir); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(paths[0]); err != nil || string(again) != string(first) {
		t.Errorf("another nodes.csv the second time: %v", err)
	}
	g, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, e := range g.Edges {
		if g.Labels[e[0]] == g.Labels[e[1]] {
			same++
		}
	}
	if g.NumNodes != 900 || g.NumClasses != 3 || g.NumFeatures != 9 || len(g.Columns) != 2 ||
		len(g.Edges) != 3574 || !g.Weighted() || 8*same > len(g.Edges) {
		t.Errorf("%d nodes, %d classes, %d features, %d edges, %d of them within a group",
			g.NumNodes, g.NumClasses, g.NumFeatures, len(g.Edges), same)
	}
	if _, err := WriteClub(paths[0]); err == nil {
		t.Error("a file was taken for a folder")
	}
}
