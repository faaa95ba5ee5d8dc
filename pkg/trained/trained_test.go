package trained

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/files/filestest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// fitted trains a model for the given number of epochs. It uses dropout and batch normalisation if the model has these
// settings.
func fitted(t *testing.T, g *graphs.Graph, name string, epochs int) (train.Config, *train.Result) {
	t.Helper()
	c := modeltest.Small(name)
	c.Epochs = epochs
	for setting, value := range map[string]string{"dropout": "0.3", "norm": "batch"} {
		if c.Value(setting) == nil {
			continue
		}
		if err := c.Set(setting, value); err != nil {
			t.Fatal(err)
		}
	}
	r, err := train.Fit(t.Context(), enginetest.Open(t, engine.Go), g, 0, c, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c, r
}

// kept writes a trained model to a file, reads the file, and returns the model that it has read.
func kept(t *testing.T, g *graphs.Graph, c train.Config, r *train.Result) *Model {
	t.Helper()
	m, err := New(g, c, engine.Go, r)
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
	return m
}

// bare returns a copy of the graph that has neither labels nor splits.
func bare(g *graphs.Graph) *graphs.Graph {
	out := *g
	out.Labels, out.NumClasses, out.Splits = slices.Repeat([]int32{graphs.Unlabelled}, g.NumNodes), 0, nil
	return &out
}

// TestEveryModel trains each model, saves it to a file, and predicts with the model from the file. On the graph that
// the model was trained on, the logits must be those of the best epoch. A prediction must not need labels, unless the
// model reads labels. A prediction must work on a graph with another number of nodes, unless the model has a weight for
// each node.
func TestEveryModel(t *testing.T) {
	e, g, other := enginetest.Open(t, engine.Go), modeltest.Board(t, 6), modeltest.Board(t, 5)
	for _, name := range models.Names() {
		c, r := fitted(t, g, name, 4)
		m := kept(t, g, c, r)
		p, err := m.Predict(e, g)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, v := range p.Logits {
			if math.Abs(float64(v-r.Logits[i])) > 1e-5 {
				t.Errorf("%s: node %d has the logit %g, and had %g at the best epoch", name, i, v, r.Logits[i])
				break
			}
		}
		k, err := models.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		switch without, err := m.Predict(e, bare(g)); {
		case k.ReadsLabels:
			if err == nil || !strings.Contains(err.Error(), "reads the labels of its training nodes") {
				t.Errorf("%s: got %v", name, err)
			}
			if p, err := train.Predict(e, g, 2, c, r.Weights, nil); err != nil || slices.Equal(p.Logits, r.Logits) {
				t.Errorf("%s is said to read labels, and does not: %v", name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case !slices.Equal(without.Logits, p.Logits):
			t.Errorf("%s: labels change the prediction", name)
		}
		parameters, err := models.Parameters(c, g.NumFeatures, g.NumClasses)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Predict(e, other)
		bound := slices.ContainsFunc(parameters, func(p models.Param) bool { return p.Nodes })
		if bound && (err == nil || !strings.Contains(err.Error(), "a weight for each of the 36 nodes of")) ||
			!bound && err != nil {
			t.Errorf("%s: on a graph of 25 nodes: %v", name, err)
		}
	}
}

// TestPredictionIsOfTheGraphsNodes reads a graph from CSV files, which give its nodes and classes names. It trains a
// model on this graph, and writes a prediction for the graph to a file. The file must have the same names of nodes and
// classes.
func TestPredictionIsOfTheGraphsNodes(t *testing.T) {
	dir, e := t.TempDir(), enginetest.Open(t, engine.Go)
	nodes := "id,label,x,y\n"
	edges := ""
	for i := range 30 {
		label, x := []string{"wasp", "ant", "bee", ""}[i%4], i%4
		nodes += fmt.Sprintf("\"n,%d\",%s,%d,%d\n", i, label, x, x*x)
		edges += fmt.Sprintf("\"n,%d\",\"n,%d\"\n", i, (i*7+1)%30)
	}
	for name, text := range map[string]string{"nodes.csv": nodes, "edges.csv": edges} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g, err := datasets.Load(t.Context(), dir, datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, r := fitted(t, g, "gcn", 3)
	m := kept(t, g, c, r)
	p, err := m.Predict(e, g)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "p.csv")
	if err := p.Write(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 31 || strings.Join(rows[0], " ") != "id ant bee wasp" || rows[8][0] != "n,7" {
		t.Errorf("%d rows, such as %q and %q, %v", len(rows), rows[0], rows[8], err)
	}
	for i := range 30 {
		if sum := p.Of(i, 0) + p.Of(i, 1) + p.Of(i, 2); math.Abs(sum-1) > 1e-12 {
			t.Errorf("node %d has probabilities of %g together", i, sum)
		}
	}
	if err := p.WriteEmbeddings(filepath.Join(dir, "e.csv")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "e.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	want := fmt.Sprintf(`"n,7",%.9g,%.9g,`, p.Representation[7*p.Width], p.Representation[7*p.Width+1])
	if len(lines) != 31 || !strings.HasPrefix(lines[0], "id,e0,e1,") || !strings.HasPrefix(lines[8], want) ||
		strings.Count(lines[9], ",") < p.Width {
		t.Errorf("%d lines, such as %s and %s, want %s", len(lines), lines[0], lines[8], want)
	}
	if err := p.Only([]int{7}).WriteEmbeddings(filepath.Join(dir, "e.npz")); err != nil {
		t.Fatal(err)
	}
	z, err := npz.Open(filepath.Join(dir, "e.npz"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	values, shape, err := z.Float32s("representation", 2)
	if err != nil || len(z.Names()) != 1 || !slices.Equal(shape, []int{1, p.Width}) ||
		!slices.Equal(values, p.Representation[7*p.Width:8*p.Width]) {
		t.Errorf("%v of %v, %v", values, shape, err)
	}
	if err := p.Write(filepath.Join(dir, "p.txt")); err == nil {
		t.Error("an unknown format was written")
	}
	g.FeatureNames = []string{"y", "x"}
	if _, err := m.Predict(e, g); err == nil || !strings.Contains(err.Error(), `whose feature 1 is "x"`) {
		t.Errorf("features in another order: %v", err)
	}
}

// TestNormalisation checks predictions with and without row-normalised features ([graphs.RowNormalise]). If a model
// was trained on row-normalised features, Predict must normalise the features of a graph, unless they are normalised
// already. If a model was trained on features that are not normalised, Predict must refuse row-normalised features.
func TestNormalisation(t *testing.T) {
	e, raw := enginetest.Open(t, engine.Go), modeltest.Board(t, 6)
	for i := range raw.Features {
		raw.Features[i] += float32(i % 5)
	}
	normal := *raw
	normal.Features, normal.RowNormalised = slices.Clone(raw.Features), true
	graphs.RowNormalise(normal.Features, normal.NumFeatures)
	c, r := fitted(t, &normal, "gcn", 2)
	m := kept(t, &normal, c, r)
	before := slices.Clone(raw.Features)
	p, err := m.Predict(e, raw)
	if err != nil || !slices.Equal(raw.Features, before) {
		t.Fatalf("%v, or features were changed", err)
	}
	if q, err := m.Predict(e, &normal); err != nil || !slices.Equal(p.Logits, q.Logits) {
		t.Errorf("predictions differ: %v", err)
	}
	c, r = fitted(t, raw, "gcn", 2)
	if _, err := kept(t, raw, c, r).Predict(e, &normal); err == nil ||
		!strings.Contains(err.Error(), "as they are stored") {
		t.Errorf("got %v", err)
	}
}

// TestRefusals checks the errors for files and graphs that cannot be used. Each error must be a single line that gives
// the reason.
func TestRefusals(t *testing.T) {
	g := modeltest.Board(t, 6)
	c, r := fitted(t, g, "gcn", 2)
	m, err := New(g, c, engine.Go, r)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	refused := func(path, want string) {
		t.Helper()
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	bareFile, packed := filepath.Join(dir, "bare.safetensors"), filepath.Join(dir, "w.npz")
	for _, path := range []string{bareFile, packed} {
		if err := WriteWeights(path, m.Weights); err != nil {
			t.Fatal(err)
		}
	}
	refused(bareFile, "does not say what model its weights are of")
	refused(packed, "does not say what model its weights are of")
	for text, want := range map[string]string{
		`{"format":2,"new":1}`: "is of another version of revgnn",
		`{"format":1,"new":1}`: "can't be read",
		`{"format":1,"config":{"model":"gcn"},"features":0,"classes":["a","b"]}`: "0 features",
		`{"format":1,"config":{"model":"none"},"features":1}`:                    "unknown model",
		`{"format":1,"config":{"model":"gcn"},"features":1,"classes":["a"]}`:     "1 classes",
		`{"format":1,"config":{"model":"gcn"},"features":2,"preparation":{"fit_on":"all","structure":"identity",` +
			`"columns":[],"names":["a","b"],"graph":""}}`: `structure "identity"`,
	} {
		path := filepath.Join(dir, "changed.safetensors")
		if err := writeFile(path, m.Weights, map[string]string{key: text}); err != nil {
			t.Fatal(err)
		}
		refused(path, want)
	}
	if _, err := New(g, c, engine.Go, &train.Result{Status: train.Diverged}); err == nil {
		t.Error("a model without parameters was made")
	}
	other := *g
	other.NumFeatures++
	other.Features, other.FeatureNames = make([]float32, other.NumNodes*other.NumFeatures), nil
	if _, err := m.Predict(nil, &other); err == nil || !strings.Contains(err.Error(), "features per node") {
		t.Errorf("got %v", err)
	}
	path := filepath.Join(dir, "m.safetensors")
	if err := m.Write(path); err != nil {
		t.Fatal(err)
	}
	filestest.FlipsOf(t, path, func(at int) {
		if _, err := Read(path); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("byte %d was changed: %v", at, err)
		}
	})
	if _, err := Read(path); err != nil {
		t.Error(err)
	}
}
