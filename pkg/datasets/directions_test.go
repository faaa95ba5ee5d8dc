package datasets

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/graphs"
)

// TestPublishedDirections checks that Squirrel and Chameleon have directed edges, and that Minesweeper has none.
// Without its directions, each graph must equal the graph that is read without the file of directions.
func TestPublishedDirections(t *testing.T) {
	for _, name := range []string{"squirrel-filtered", "chameleon-filtered", "minesweeper"} {
		info, err := Info(name)
		if err != nil {
			t.Fatal(err)
		}
		g := load(t, name)
		raw, err := parseRaw(info, shared(t, "data"))
		if err != nil {
			t.Fatal(err)
		}
		if g.Directed() != (info.Directed != nil) || g.ArcsMissing != "" ||
			g.Undirected().Checksum() != raw.Checksum() {
			t.Errorf("%s: %d arcs (%q) of %d edges, %d without them",
				name, len(g.Arcs), g.ArcsMissing, len(g.Edges), len(raw.Edges))
		}
	}
}

// TestMissingDirections checks that Load fetches the file with the directions of the edges together with the other
// files. If only the file with the directions is missing or damaged, Load must still return the graph, but without
// directions. The field ArcsMissing of the graph must then say what is wrong with the file.
func TestMissingDirections(t *testing.T) {
	const name, file = "chameleon-filtered", "chameleon_filtered_directed.npz"
	dir, mirror := t.TempDir(), shared(t, "data")
	opts := Options{Dir: dir, Mirror: mirror, Offline: true}
	if g, err := Load(t.Context(), name, opts); err != nil || !g.Directed() {
		t.Fatalf("from the mirror: %v, %v", g, err)
	}
	says := func(what, want string) {
		t.Helper()
		g, err := Load(t.Context(), name, opts)
		if err != nil || g.Directed() {
			t.Fatalf("%s: %v, %v", what, g, err)
		}
		mustFail(t, what, errors.New(g.ArcsMissing), want)
		mustFail(t, what, errors.New(g.ArcsMissing), "`revgnn datasets get chameleon-filtered`")
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	says("damaged", "has 7 bytes instead of 69275")
	if err := os.Remove(filepath.Join(dir, file)); err != nil {
		t.Fatal(err)
	}
	says("removed", file+" is missing")
	mustFail(t, "verify", Verify(name, opts), file+" is missing")
	if err := Get(t.Context(), name, opts); err != nil {
		t.Fatal(err)
	}
	if g, err := Load(t.Context(), name, opts); err != nil || !g.Directed() {
		t.Errorf("fetched anew: %v, %v", g, err)
	}
}

// TestMirrorWithoutDirections checks what happens if the mirror lacks the file with the directions of the edges. Load
// must return the graph without directions, and Get must fail.
func TestMirrorWithoutDirections(t *testing.T) {
	mirror := t.TempDir()
	b, err := os.ReadFile(filepath.Join(shared(t, "data"), "chameleon_filtered.npz"))
	if err == nil {
		err = os.WriteFile(filepath.Join(mirror, "chameleon_filtered.npz"), b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{Dir: t.TempDir(), Mirror: mirror, Offline: true}
	if g, err := Load(t.Context(), "chameleon-filtered", opts); err != nil || g.Directed() || g.ArcsMissing == "" {
		t.Errorf("%v, %v", g, err)
	}
	mustFail(t, "get", Get(t.Context(), "chameleon-filtered", opts), "the mirror does not have")
}

func TestOtherEdgesAreNoDirections(t *testing.T) {
	dir, b := t.TempDir(), tiny()
	right, wrong := fileOf(b), fileOf(b)
	wrong.SHA256 = "0"
	if err := os.WriteFile(filepath.Join(dir, right.Name), b, 0o644); err != nil {
		t.Fatal(err)
	}
	for want, file := range map[string]data.File{"do not join the same nodes": right, "has the SHA-256": wrong} {
		g, err := graphs.New("g", 3, []graphs.Edge{{0, 2}}, nil, 0, make([]int32, 3), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		g = addDirections(g, data.Dataset{Directed: &file}, dir)
		mustFail(t, "other edges", errors.New(g.ArcsMissing), want)
	}
}

func TestOwnDirections(t *testing.T) {
	want := []graphs.Arc{{0, 1}, {2, 1}, {2, 2}}
	archived := func(directed []byte) []byte {
		return archive(entry("node_features", npy("<f4", false, "(3, 1)", []float32{1, 2, 3})),
			entry("node_labels", npy("<i8", false, "(3,)", []int64{0, 1, 0})),
			entry("edges", npy("<i4", false, "(4, 2)", []int32{0, 1, 2, 1, 2, 1, 2, 2})), entry("directed", directed))
	}
	for what, directed := range map[string][]byte{
		"a bool": npy("|b1", false, "()", []bool{true}), "a number": npy("<i8", false, "(1,)", []int64{1}),
	} {
		g, err := parseTiny(archived(directed))
		if err != nil || !slices.Equal(g.Arcs, want) || !slices.Equal(g.Edges, []graphs.Edge{{0, 1}, {1, 2}}) {
			t.Errorf("%s: %+v, %v", what, g, err)
		}
	}
	g, err := parseTiny(archived(npy("|b1", false, "()", []bool{false})))
	if err != nil || g.Directed() {
		t.Errorf("false: %+v, %v", g, err)
	}
	_, err = parseTiny(archived(npy("|b1", false, "(2,)", []bool{true, false})))
	mustFail(t, "two values", err, "it must be true or false")

	dir := folder(t, "id,label\na,0\nb,1\nc,0\n", "")
	if err := os.WriteFile(filepath.Join(dir, "directed_edges.csv"), []byte("a,b\nc,b\nc,c\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if g, err := Load(t.Context(), dir, Options{}); err != nil || !slices.Equal(g.Arcs, want) {
		t.Errorf("folder: %+v, %v", g, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "edges.csv"), []byte("a,b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Load(t.Context(), dir, Options{})
	mustFail(t, "both", err, "has both edges.csv and directed_edges.csv")
}
