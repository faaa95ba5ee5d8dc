package datasets

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// tinyCSR is what scipy.sparse.save_npz writes of the adjacency of the path 0 – 1 – 2 with the weights 0.5 and 2, and
// with a stored zero.
func tinyCSR() []byte {
	return archive(entry("format", npy("|S3", false, "()", []byte("csr"))),
		entry("shape", npy("<i8", false, "(2,)", []int64{3, 3})),
		entry("indptr", npy("<i4", false, "(4,)", []int32{0, 1, 3, 5})),
		entry("indices", npy("<i4", false, "(5,)", []int32{1, 0, 2, 1, 0})),
		entry("data", npy("<f8", false, "(5,)", []float64{0.5, 0.5, 2, 2, 0})))
}

// TestFormats reads one graph from tables with other separators, compressed ones, a matrix of SciPy and JSON of
// NetworkX.
func TestFormats(t *testing.T) {
	const nodes = "id,label,x,when\n01,00,1.5,7\nb;c,01,2,8\nd,00,3,9\n"
	const edges = "source,target,weight\n01,b;c,0.5\nd,b;c,2\n"
	packed := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		return b.String()
	}
	other := func(separator, text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(text, ",", separator), "b;c", `"b;c"`)
	}
	for name, in := range map[string]map[string]string{
		"commas":      {"nodes.csv": nodes, "edges.csv": edges},
		"semicolons":  {"nodes.csv": other(";", nodes), "edges.csv": other(";", edges)},
		"tabs":        {"nodes.csv": "\ufeff" + other("\t", nodes), "edges.csv": edges},
		"gzip":        {"nodes.csv.gz": packed(nodes), "edges.csv.gz": packed(edges)},
		"SciPy's CSR": {"nodes.csv": nodes, "edges.npz": string(tinyCSR())},
		"NetworkX": {"graph.json": "\ufeff" + `{"directed": false, "multigraph": false, "graph": {}, "nodes": [
			{"id": "01", "label": "00", "x": 1.5, "when": 7}, {"id": "b;c", "label": "01", "x": 2, "when": 8},
			{"label": "00", "x": 3, "when": 9, "id": "d"}], "links": [{"source": "01", "target": "b;c", "weight": 0.5},
			{"source": "d", "target": "b;c", "weight": 2}]}`},
	} {
		path := t.TempDir()
		for file, text := range in {
			if err := os.WriteFile(filepath.Join(path, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, ".json") {
				path = filepath.Join(path, file)
			}
		}
		g, err := Load(t.Context(), path, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		features := []float32{1.5, 7, 2, 8, 3, 9}
		if name == "NetworkX" { // attributes in alphabetical order
			features = []float32{7, 1.5, 8, 2, 9, 3}
		}
		if !slices.Equal(g.IDs, []string{"01", "b;c", "d"}) || !slices.Equal(g.ClassNames, []string{"00", "01"}) ||
			!slices.Equal(g.Edges, []graphs.Edge{{0, 1}, {1, 2}}) || !slices.Equal(g.EdgeWeights, []float32{0.5, 2}) ||
			!slices.Equal(g.Features, features) || len(g.Notes) > 0 {
			t.Errorf("%s: got %+v", name, g)
		}
	}
}

func TestBadFormats(t *testing.T) {
	for want, text := range map[string]string{
		"is not the JSON of networkx":                 `[1]`,
		`it has no list "nodes"`:                      `{"links": []}`,
		"object 2 has no id":                          `{"nodes": [{"id": 1}, {"name": 2}], "edges": []}`,
		"object 1 has no id":                          `{"nodes": [{"id": [1, 2]}], "edges": []}`,
		`"x" of object 1 is neither a text, a number`: `{"nodes": [{"id": 1, "x": {}}], "edges": []}`,
		"not UTF-8":                                   "{\"nodes\": [{\"id\": \"\xe4\"}], \"edges\": []}",
		"is not the JSON of networkx.node_link_data (invalid character 'N'": `{"nodes": [{"id": NaN}], "edges": []}`,
		`"f_0" twice, once in a list`:                                       `{"nodes": [{"id": 1, "f_0": 1, "f": [2]}], "edges": []}`,
		"both edges and links":                                              `{"nodes": [], "edges": [], "links": []}`,
		`line 2 joins "1" and "3", but nodes.csv does not`:                  `{"nodes": [{"id": 1}], "edges": [{"source": 1, "target": 3}]}`,
	} {
		path := filepath.Join(t.TempDir(), "g.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(t.Context(), path, Options{})
		mustFail(t, want, err, want)
	}
	dir := folder(t, "id\na\nb\n", "")
	for want, b := range map[string][]byte{
		"is not a CSR matrix of SciPy":           archive(entry("format", npy("|S3", false, "()", []byte("coo")))),
		"shape [3 3], but the table has 2 nodes": tinyCSR(),
	} {
		if err := os.WriteFile(filepath.Join(dir, "edges.npz"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(t.Context(), dir, Options{})
		mustFail(t, want, err, want)
	}
	// Nodes that are called as the columns of edges are.
	named := `{"nodes": [{"id": "source"}, {"id": "target"}, {"id": 3}], "edges": [{"source": 3, "target": "target"}]}`
	g, err := parseNodeLink("g.json", []byte(named))
	if err != nil || !slices.Equal(g.Edges, []graphs.Edge{{1, 2}}) {
		t.Errorf("got %+v, %v", g, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "edges.csv.gz"), []byte("a,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Load(t.Context(), dir, Options{})
	mustFail(t, "two", err, "has both edges.csv.gz and edges.npz")
	os.Remove(filepath.Join(dir, "edges.npz"))
	_, err = Load(t.Context(), dir, Options{})
	mustFail(t, "not packed", err, "or take .gz from its name")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(strings.Repeat("a,b\n", 100)))
	z.Close()
	if err := os.WriteFile(filepath.Join(dir, "edges.csv.gz"), packed.Bytes()[:packed.Len()-5], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Load(t.Context(), dir, Options{})
	mustFail(t, "cut short", err, "gzip cannot unpack it to its end")
}
