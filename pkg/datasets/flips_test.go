package datasets

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files/filestest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
)

// TestFlippedBytesOfArchives changes each byte of small archives, one at a time. A changed archive must be refused, or
// give the same graph.
func TestFlippedBytesOfArchives(t *testing.T) {
	directed := tiny(entry("test_masks", nil), entry("train_masks", nil), entry("val_masks", nil))
	directed = joined(t, directed, archive(entry("directed", npy("|b1", false, "()", []bool{true}))))
	parse := func(b []byte, graph func(*npz.File, string) (*graphs.Graph, error)) (*graphs.Graph, error) {
		z, err := npz.New(bytes.NewReader(b), int64(len(b)), "own.npz")
		if err != nil {
			return nil, err
		}
		return graph(z, "own")
	}
	for what, c := range map[string]struct {
		whole []byte
		graph func(*npz.File, string) (*graphs.Graph, error)
	}{"masks": {tiny(), platonovGraph}, "directed": {directed, platonovGraph},
		"gnn-benchmark": {tinyBenchmark(), benchmarkGraph}} {
		want, err := parse(c.whole, c.graph)
		if err != nil {
			t.Fatal(what, err)
		}
		filestest.Flips(c.whole, func(at int, flipped []byte) {
			filestest.Parse(t, func() error {
				got, err := parse(flipped, c.graph)
				if err == nil && got.Checksum() != want.Checksum() {
					t.Errorf("%s: with byte %d changed it is another graph", what, at)
				}
				return err
			})
		})
	}
}

// joined returns one archive that has the arrays of all the given archives.
func joined(t *testing.T, archives ...[]byte) []byte {
	t.Helper()
	var all []npz.Named
	for _, b := range archives {
		z, err := npz.New(bytes.NewReader(b), int64(len(b)), "one.npz")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range z.Names() {
			values, shape, err := z.Int64s(name, npz.Any)
			if err != nil { // The array has the features, which are not integers.
				floats, shape, err := z.Float32s(name, npz.Any)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, npz.Named{Name: name, Shape: shape, Values: floats})
				continue
			}
			all = append(all, npz.Named{Name: name, Shape: shape, Values: values})
		}
	}
	path := filepath.Join(t.TempDir(), "joined.npz")
	if err := npz.Write(path, all); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFlippedBytesOfFolders changes each byte of a user's CSV files, one at a time. A changed file must be refused, or
// give a valid graph. This graph may differ from the original graph, since a CSV file has no checksum.
func TestFlippedBytesOfFolders(t *testing.T) {
	dir := t.TempDir()
	content := map[string][]byte{
		"nodes.csv": []byte("id,label,split,x,y\na,0,train,1.5,-2\nb,1,val,0,1e3\n\"c,d\",0,test,3,4\n"),
		"edges.csv": []byte("from,to\na,b\nb,\"c,d\"\n")}
	for name, whole := range content {
		if err := os.WriteFile(filepath.Join(dir, name), whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := folderGraph(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, whole := range content {
		others := 0
		filestest.FlipsOf(t, filepath.Join(dir, name), func(int) {
			checkGraph(t, func() (*graphs.Graph, error) {
				g, err := folderGraph(dir)
				if err == nil && g.Checksum() != want.Checksum() {
					others++
				}
				return g, err
			})
		})
		t.Logf("%s: %d of %d changes give another graph", name, others, 2*len(whole))
	}
}

// TestFlippedBytesOfPublishedFiles changes each byte of small Planetoid files, one at a time. verifyFile, which
// computes the checksum of a file, must notice every change. The parsers also get the changed bytes. They must return
// an error or a valid graph.
func TestFlippedBytesOfPublishedFiles(t *testing.T) {
	dir, parts := t.TempDir(), tinyPlanetoid()
	for name, whole := range parts {
		path, file := filepath.Join(dir, name), fileOf(whole)
		if err := os.WriteFile(path, whole, 0o666); err != nil {
			t.Fatal(err)
		}
		filestest.FlipsOf(t, path, func(at int) {
			if err := verifyFile(path, file); err == nil || !strings.Contains(err.Error(), "has the SHA-256") {
				t.Errorf("%s, byte %d: %v", name, at, err)
			}
		})
		filestest.Flips(whole, func(_ int, flipped []byte) {
			checkGraph(t, func() (*graphs.Graph, error) {
				damaged := maps.Clone(parts)
				damaged[name] = flipped
				return parsePlanetoid(damaged)
			})
		})
	}
}

// TestFlippedBytesOfRealFiles changes one byte in each file of Cora, Photo and Chameleon, one file at a time. Load must
// then fail, with one exception: if the changed file has the directions of the edges, Load must return the graph
// without directions.
func TestFlippedBytesOfRealFiles(t *testing.T) {
	from := shared(t, "data")
	for _, name := range []string{"cora", "photo", "chameleon-filtered"} {
		info, err := Info(name)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		copyTo := func(f data.File, change bool) {
			b, err := os.ReadFile(filepath.Join(from, f.Name))
			if err != nil {
				t.Skip(err)
			}
			if change {
				b[len(b)/3] ^= 4
			}
			if err := os.WriteFile(filepath.Join(dir, f.Name), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		all := info.All()
		for _, f := range all {
			copyTo(f, false)
		}
		for _, f := range all {
			copyTo(f, true)
			g, err := Load(t.Context(), name, Options{Dir: dir, Offline: true})
			if slices.Contains(info.Files, f) {
				mustFail(t, f.Name, err, "has the SHA-256")
			} else if err != nil || g.Directed() || !strings.Contains(g.ArcsMissing, "SHA-256") {
				t.Errorf("%s: %v; the directions are said to be missing for %q", f.Name, err, g.ArcsMissing)
			}
			copyTo(f, false)
		}
	}
}
