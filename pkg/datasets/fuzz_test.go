package datasets

import (
	"bytes"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
)

// checkGraph checks what every parser of a file must guarantee. The parser must not panic. It must not allocate more
// memory than [filestest.Parse] allows. Every graph that it returns must be valid.
func checkGraph(t *testing.T, parse func() (*graphs.Graph, error)) {
	t.Helper()
	var g *graphs.Graph
	accepted := filestest.Parse(t, func() (err error) {
		g, err = parse()
		return err
	})
	if !accepted {
		return
	}
	if err := g.Validate(); err != nil {
		t.Errorf("an invalid graph was accepted: %v", err)
	}
}

func FuzzPlatonov(f *testing.F) {
	f.Add(tiny())
	f.Add(tiny(entry("train_masks", nil), entry("val_masks", nil), entry("test_masks", nil)))
	f.Add(tiny(entry("edges", npy("<i4", false, "(1, 2)", []int32{0, 9}))))
	f.Fuzz(func(t *testing.T, b []byte) {
		checkGraph(t, func() (*graphs.Graph, error) { return parseTiny(b) })
	})
}

// FuzzPlatonovArrays replaces one array of an archive by arbitrary bytes. The checksums in the archive are computed
// from these bytes. The archive is therefore accepted as undamaged, and the bytes reach the code that parses arrays.
func FuzzPlatonovArrays(f *testing.F) {
	f.Add(uint8(0), npy("<f8", true, "(3, 2)", []float64{1, 2, 3, 4, 5, 6}))
	f.Add(uint8(1), npy("<u8", false, "(3,)", []uint64{1, 2, 3}))
	f.Add(uint8(2), npy(">i4", false, "(2, 2)", []int32{1, 2, 2, 1}))
	f.Add(uint8(3), npy("|u1", false, "(1, 3)", []uint8{1, 0, 0}))
	names := [4]string{"node_features", "node_labels", "edges", "train_masks"}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		checkGraph(t, func() (*graphs.Graph, error) { return parseTiny(tiny(entry(names[which%4], b))) })
	})
}

func FuzzBenchmark(f *testing.F) {
	f.Add(tinyBenchmark(), "attr_shape", npy("<i8", false, "(2,)", []int64{3, 2}))
	f.Add(tinyBenchmark(), "attr_shape", npy("<i8", false, "(2,)", []int64{3, 1 << 30}))
	f.Add(tinyBenchmark(), "adj_indptr", npy("<i4", false, "(4,)", []int32{0, 2, 1, 3}))
	f.Add(tinyBenchmark(), "labels", npy("<i8", false, "(3,)", []int64{0, 1, 70000}))
	f.Fuzz(func(t *testing.T, whole []byte, name string, b []byte) {
		if other := replaced(whole, name, b); other != nil {
			whole = other
		}
		checkGraph(t, func() (*graphs.Graph, error) {
			z, err := npz.New(bytes.NewReader(whole), int64(len(whole)), "fuzz.npz")
			if err != nil {
				return nil, err
			}
			return benchmarkGraph(z, "fuzz")
		})
	})
}

func FuzzPickle(f *testing.F) {
	for _, part := range tinyPlanetoid() {
		f.Add(part)
	}
	f.Add([]byte("\x80\x02cos\nsystem\n)R."))
	f.Add([]byte("\x80\x02]q\x01h\x01a."))
	f.Fuzz(func(t *testing.T, b []byte) {
		filestest.Parse(t, func() error {
			v, err := unpickle(b)
			if err == nil {
				refused(func() { pickledArray(v) })
				refused(func() { pickledCSR(v) })
			}
			return err
		})
	})
}

func FuzzPlanetoid(f *testing.F) {
	p := tinyPlanetoid()
	f.Add(p["allx"], p["tx"], p["ally"], p["ty"], p["graph"], p["test.index"])
	f.Add(p["tx"], p["allx"], p["ty"], p["ally"], p["graph"], []byte("5\n2"))
	f.Fuzz(func(t *testing.T, allx, tx, ally, ty, graph, index []byte) {
		checkGraph(t, func() (*graphs.Graph, error) {
			return parsePlanetoid(map[string][]byte{"allx": allx, "tx": tx, "ally": ally, "ty": ty, "graph": graph,
				"test.index": index})
		})
	})
}

func FuzzFolder(f *testing.F) {
	f.Add("id,label,x\na,0,1\nb,1,2\n", "from,to\na,b\n")
	f.Add("id,label,x\na,0,1\nb,1,2\n", "weight,when,from,to\n0.5,x,a,b\n")
	f.Add("id,label,split\n10,2,train\n20,0,val\n", "10,20\n")
	f.Add("id,city,age\na,Rome,1\nb,?,\n", "a,b\n")
	f.Add("\ufeffid,label\n\"a\nb\",x\n", "\"a\nb\",\"a\nb\"\n")
	f.Fuzz(func(t *testing.T, nodes, edges string) {
		checkGraph(t, func() (g *graphs.Graph, err error) {
			defer returned(&err)
			table := parseNodes(newRows(strings.NewReader(nodes)))
			if len(table.raw) > 0 {
				table.parseColumns(newRows(strings.NewReader(nodes)))
			}
			ends, weights, _ := parseEdges(newRows(strings.NewReader(edges)), table.numbers)
			if g, err = table.graph("fuzz", ends); err == nil && weights != nil {
				g, err = g.WithWeights(ends, weights)
			}
			return g, err
		})
	})
}

func FuzzNodeLink(f *testing.F) {
	f.Add(`{"directed": true, "nodes": [{"id": 1, "label": "a", "x": [1, 2.5]}, {"id": "b"}], "links": [{"source": 1,
		"target": "b", "weight": 2}]}`)
	f.Add(`{"nodes": [{"id": "a,\"b"}], "edges": []}`)
	f.Fuzz(func(t *testing.T, text string) {
		checkGraph(t, func() (*graphs.Graph, error) { return parseNodeLink("fuzz.json", []byte(text)) })
	})
}

func FuzzSparseEdges(f *testing.F) {
	f.Add(tinyCSR(), "indptr", npy("<i4", false, "(4,)", []int32{0, 2, 1, 3}))
	f.Add(tinyCSR(), "shape", npy("<i8", false, "(2,)", []int64{3, 1 << 30}))
	f.Add(tinyCSR(), "format", npy("|S3", false, "()", []byte("csc")))
	f.Fuzz(func(t *testing.T, whole []byte, name string, b []byte) {
		if other := replaced(whole, name, b); other != nil {
			whole = other
		}
		filestest.Parse(t, func() error {
			z, err := npz.New(bytes.NewReader(whole), int64(len(whole)), "fuzz.npz")
			if err == nil {
				_, _, err = sparseEdges(z, 3)
			}
			return err
		})
	})
}

func FuzzMinesweeper(f *testing.F) {
	f.Add("minesweeper-generated:rows=5,cols=5,mines=0.2,unknown=0.5,seed=1")
	f.Add("minesweeper-generated:rows=1,cols=1,mines=1")
	f.Add("minesweeper-generated:mines=NaN")
	f.Fuzz(func(t *testing.T, spec string) {
		m, err := ParseMinesweeper(spec)
		if err != nil || m.Rows*m.Cols > 10000 {
			return
		}
		if again, err := ParseMinesweeper(m.String()); err != nil || again != m {
			t.Errorf("%q does not survive %q: %v", spec, m, err)
		}
		checkGraph(t, m.Graph)
	})
}

func FuzzUnknownName(f *testing.F) {
	f.Add("chameleon")
	f.Add("")
	f.Fuzz(func(t *testing.T, name string) {
		if _, err := Info(name); err != nil && !strings.HasPrefix(err.Error(), "unknown dataset ") {
			t.Errorf("%q: %v", name, err)
		}
	})
}
