package trained

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// table is a board with two features of unlike scales, and a column each of texts, of true and false, and of numbers,
// some of which are missing.
func table(t *testing.T) *graphs.Graph {
	g := modeltest.Board(t, 8)
	kept := g.Features
	g.Features, g.FeatureNames, g.NumFeatures = nil, []string{"seen", "joined"}, 2
	column := func(name string, every int, values ...string) (c graphs.Column) {
		c = graphs.Column{Name: name, Values: values}
		for i := range g.NumNodes {
			code := int32((i*7 + i/5) % len(values))
			if every > 0 && i%every == 0 {
				code = graphs.Missing
			}
			c.Codes = append(c.Codes, code)
		}
		return c
	}
	for i := range g.NumNodes {
		g.Features = append(g.Features, kept[i*len(kept)/g.NumNodes], 1.7e9+1e5*float32(i%17))
	}
	g.Columns = []graphs.Column{column("city", 9, "Bern", "Oslo", "Rome"), column("member", 0, "No", "Yes"),
		column("age", 10, "20", "31.5", "40", "77")}
	return g
}

// TestPreparedModel saves models of a raw table and predicts on it: the logits must be those of the training, bit for
// bit, and of a table in another order they must be the same.
func TestPreparedModel(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, structure := range []string{"none", "laplacian", "identity", "random-walk"} {
			g := table(t)
			c := modeltest.Small("gcn+rep")
			c.Epochs, c.Scale, c.Missing, c.Structure = 5, "standardise", "mean", structure
			r, err := train.Fit(t.Context(), e, g, 0, c, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := New(g, c, e.Name, r)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "m.safetensors")
			if err := m.Write(path); err != nil {
				t.Fatal(err)
			}
			if m, err = Read(path); err != nil {
				t.Fatal(err)
			}
			if m.Checksum != c.InputGraph(g).Checksum() || m.Features != len(m.FeatureNames) {
				t.Errorf("%s: %+v", structure, m.About)
			}
			p, err := m.Predict(e, g)
			if err != nil || !slices.Equal(p.Logits, r.Logits) || p.Notes != nil {
				t.Errorf("%s: other logits than in training; %v, %q", structure, err, p.Notes)
			}
			if path, err := m.Trace(e, g, []int{0}); err != nil || len(path.Forward) != 1 {
				t.Errorf("%s: %v", structure, err)
			}
			other := *g
			other.Columns = slices.Clone(g.Columns)
			slices.Reverse(other.Columns)
			if q, err := m.Predict(e, &other); err != nil || !slices.Equal(q.Logits, p.Logits) {
				t.Errorf("%s: other logits for another order of columns; %v", structure, err)
			}
			other.Columns[2].Values = []string{"Bern", "Oslo", "Pisa"}
			q, err := m.Predict(e, &other)
			if err != nil || len(q.Notes) != 1 || !strings.Contains(q.Notes[0], "had no Pisa:") {
				t.Errorf("%s: %v", structure, err)
			}
			other.Edges = g.Edges[1:]
			_, err = m.Predict(e, &other)
			if fits := structure != "laplacian"; fits != (err == nil) ||
				!fits && !strings.Contains(err.Error(), "not the graph") {
				t.Errorf("%s, another graph: %v", structure, err)
			}
			other.Columns = other.Columns[1:]
			if _, err := m.Predict(e, &other); err == nil || !strings.Contains(err.Error(), "lacks the columns age") {
				t.Errorf("%s: got %v", structure, err)
			}
		}
	})
}

// TestModelsOfNumbersRefuseOtherColumns predicts on a table that the model was not trained for.
func TestModelsOfNumbersRefuseOtherColumns(t *testing.T) {
	e, g := enginetest.Open(t, engine.Go), table(t)
	numbers := *g
	numbers.Columns = nil
	c := modeltest.Small("gcn")
	c.Epochs = 2
	r, err := train.Fit(t.Context(), e, &numbers, 0, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(&numbers, c, e.Name, r)
	if err != nil || m.Prepared != nil {
		t.Fatal(m, err)
	}
	if _, err := m.Predict(e, g); err == nil || !strings.Contains(err.Error(), "city (3 categories") {
		t.Errorf("got %v", err)
	}
	_, err = train.Predict(e, g, 2, c, r.Weights, nil)
	if err == nil || !strings.Contains(err.Error(), "not all numbers") {
		t.Errorf("got %v", err)
	}
}

// TestGapsInAnotherTable trains on a table without gaps: if --missing is mean, the model predicts where there are some.
func TestGapsInAnotherTable(t *testing.T) {
	e, whole, gaps := enginetest.Open(t, engine.Go), modeltest.Board(t, 6), modeltest.Board(t, 6)
	whole.Features, whole.NumFeatures, whole.FeatureNames = make([]float32, 36), 1, []string{"age"}
	column := graphs.Column{Name: "age", Values: []string{"3"}, Codes: make([]int32, 36)}
	column.Codes[7] = graphs.Missing
	gaps.Features, gaps.NumFeatures, gaps.Columns = nil, 0, []graphs.Column{column}
	c := modeltest.Small("gcn")
	c.Epochs = 2
	for missing, want := range map[string]string{"refuse": "age (numbers, 1 missing)", "mean": ""} {
		c.Missing = missing
		r, err := train.Fit(t.Context(), e, whole, 0, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(whole, c, e.Name, r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Predict(e, gaps)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", missing, err)
		}
	}
}

// TestGraphsOfPrograms gives trainings and predictions graphs that no file can have: without names, or damaged.
func TestGraphsOfPrograms(t *testing.T) {
	e, err := engine.Open("go")
	if err != nil {
		t.Fatal(err)
	}
	nameless := func() *graphs.Graph {
		g := table(t)
		g.FeatureNames = nil
		for i := range g.Columns {
			g.Columns[i].Name = ""
		}
		return g
	}
	c := modeltest.Small("gcn+rep")
	c.Epochs, c.Missing = 2, "mean"
	g := nameless()
	r, err := train.Fit(t.Context(), e, g, 0, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(g, c, e.Name, r)
	if err != nil {
		t.Fatal(err)
	}
	g.Labels, g.Splits = nil, nil
	if _, err := m.Predict(e, g); err != nil {
		t.Error(err)
	}
	if _, err := m.Predict(e, table(t)); err == nil || !strings.Contains(err.Error(), "in training it was") {
		t.Errorf("columns with names: %v", err)
	}
	for want, damage := range map[string]func(g *graphs.Graph){
		"joins nodes 5 and 9999": func(g *graphs.Graph) { g.Edges = append(g.Edges, graphs.Edge{5, 9999}) },
		"3 feature values":       func(g *graphs.Graph) { g.Features = g.Features[:3] },
		"it has 3 values":        func(g *graphs.Graph) { g.Columns[0].Codes = g.Columns[0].Codes[:3] },
		"has text 77":            func(g *graphs.Graph) { g.Columns[0].Codes[1] = 77 },
		"1 weights for":          func(g *graphs.Graph) { g.EdgeWeights = []float32{1} },
	} {
		g := nameless()
		damage(g)
		if _, err := train.Fit(t.Context(), e, g, 0, c, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("training: %v; want %q", err, want)
		}
		if _, err := m.Predict(e, g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("prediction: %v; want %q", err, want)
		}
	}
}
