package models_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// dirWith returns a function that changes settings of Dir-GNN. The argument settings lists the names and the new values
// of these settings: name, value, name, value, …
func dirWith(t *testing.T, settings ...string) func(c *train.Config) {
	return func(c *train.Config) {
		for i := 0; i < len(settings); i += 2 {
			if err := c.Set(settings[i], settings[i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestDirGNN(t *testing.T) {
	t.Parallel()
	modeltest.Check(t, "dir-gnn", dirWith(t, "conv", "sage", "learn-alpha", "true", "jk", "cat", "l2-norm", "true"))
}

// dirFormula returns a function that computes the logits of Dir-GNN on dense matrices, by the publication's formula.
// The argument alpha is a function that returns α, the weight of the messages from out-neighbours, as an array with one
// entry.
func dirFormula(alpha func(d *modeltest.Dense) *Node) modeltest.Formula {
	return func(d *modeltest.Dense) (logits, penalty *Node) {
		value := func(name string) any { return d.Config.Value(name) }
		a, x := Reshape(alpha(d)), d.X
		var states []*Node
		for l := range d.Config.Forward {
			linear := func(name string, x *Node) *Node { return d.Linear(fmt.Sprintf("convs.%d.%s", l, name), x) }
			var h *Node
			if value("conv") == "gcn" {
				toward := linear("lin_src_to_dst", Dot(degreeNorm(d.Out), x).Product())
				from := linear("lin_dst_to_src", Dot(degreeNorm(d.In), x).Product())
				h = Add(Mul(a, toward), Mul(OneMinus(a), from))
			} else {
				toward := linear("conv_dst_to_src.lin_l", Dot(d.RowNorm(d.Out), x).Product())
				from := linear("conv_src_to_dst.lin_l", Dot(d.RowNorm(d.In), x).Product())
				h = Add(linear("lin_self", x), Add(Mul(a, toward), Mul(OneMinus(a), from)))
			}
			if value("jk") == "none" && l == d.Config.Forward-1 {
				return h, nil
			}
			x = Max(h, ZerosLike(h))
			if value("l2-norm").(bool) {
				length := Sqrt(ReduceAndKeep(Square(x), ReduceSum, 1))
				x = Div(x, Add(length, ConvertDType(Equal(length, ZerosLike(length)), length.DType())))
			}
			states = append(states, x)
		}
		if value("jk") == "cat" {
			return d.Linear("lin", Concatenate(states, 1)), nil
		}
		return d.Linear("lin", ReduceMax(Stack(states, 0), 0)), nil
	}
}

// degreeNorm returns D_r^-1/2 A D_c^-1/2 for the adjacency matrix A. The diagonal matrix D_r holds the sums of the rows
// of A, and D_c holds the sums of the columns of A. Sums of 0 count as 1.
func degreeNorm(a *Node) *Node {
	root := func(axis int) *Node {
		sum := ReduceAndKeep(a, ReduceSum, axis)
		return Sqrt(Where(Equal(sum, ZerosLike(sum)), OnesLike(sum), sum))
	}
	return Div(Div(a, root(1)), root(0))
}

func TestDirGNNFormula(t *testing.T) {
	directed, undirected := modeltest.TinyDirected(t), modeltest.Tiny(t)
	sparse := *directed
	sparse.Features = slices.Clone(sparse.Features)
	for i := range sparse.Features {
		if i%20 > 0 {
			sparse.Features[i] = 0
		}
	}
	learnt := func(d *modeltest.Dense) *Node { return d.Param("alpha") }
	fixed := func(alpha float64) func(d *modeltest.Dense) *Node {
		return func(d *modeltest.Dense) *Node { return Const(d.Graph, []float64{alpha}) }
	}
	for _, c := range []struct {
		name     string
		g        *graphs.Graph
		alpha    func(d *modeltest.Dense) *Node
		settings []string
	}{
		{"gcn", directed, fixed(0.3), []string{"alpha", "0.3"}},
		{"gcn, undirected graph", undirected, learnt,
			[]string{"alpha", "0.3", "learn-alpha", "true", "jk", "none"}},
		{"gcn, out alone", &sparse, fixed(1), []string{"alpha", "1", "jk", "none", "forward", "1"}},
		{"sage, in alone", directed, fixed(0), []string{"alpha", "0", "conv", "sage", "forward", "1"}},
		{"sage, cat", directed, learnt, []string{"learn-alpha", "true", "conv", "sage", "jk", "cat"}},
		{"sage, sparse features", &sparse, fixed(0.5), []string{"conv", "sage", "l2-norm", "true"}},
		{"sage, undirected graph", undirected, fixed(0.5), []string{"conv", "sage"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			modeltest.EqualsOn(t, c.g, "dir-gnn", dirFormula(c.alpha), dirWith(t, c.settings...))
		})
	}
}

// Reversing all edges changes the logits of Dir-GNN, unless the setting undirected is true. Reversing all edges does
// not change the logits of GCN, which ignores directions.
func TestDirectionsAreForThoseWhoReadThem(t *testing.T) {
	g := modeltest.TinyDirected(t)
	var turned []graphs.Arc
	for _, a := range g.Arcs {
		turned = append(turned, graphs.Arc{a[1], a[0]})
	}
	round, err := g.WithArcs(turned)
	if err != nil {
		t.Fatal(err)
	}
	e := enginetest.Open(t, engine.Go)
	logits := func(model string, g *graphs.Graph, change ...string) []float32 {
		c := modeltest.Small(model)
		dirWith(t, change...)(&c)
		p, err := train.Evaluate(e, g, 0, c, modeltest.Draw(t, g, c), false)
		if err != nil {
			t.Fatal(err)
		}
		return p.Logits
	}
	if slices.Equal(logits("dir-gnn", g), logits("dir-gnn", round)) {
		t.Error("dir-gnn does not see the directions of edges")
	}
	for _, other := range []*graphs.Graph{round, g.Undirected()} {
		if !slices.Equal(logits("gcn", g), logits("gcn", other)) {
			t.Error("gcn sees the directions of edges")
		}
		if !slices.Equal(logits("dir-gnn", g, "undirected", "true"), logits("dir-gnn", other, "undirected", "true")) {
			t.Error("dir-gnn sees the directions of edges though they are left out")
		}
	}
	gcn, dir := models.Default("gcn"), models.Default("dir-gnn")
	if gcn.InputGraph(g).Checksum() != g.Undirected().Checksum() || dir.InputGraph(g).Checksum() != g.Checksum() {
		t.Error("the checksum of what a model sees is not that of the graph with, or without, directions")
	}
}

// A graph may be loaded without the directions of its edges, because a file is missing. Models that read directions
// refuse such a graph with an error that says what to do. All other models accept it. The test also checks that Dir-GNN
// needs at least one layer.
func TestMissingDirections(t *testing.T) {
	g := modeltest.Tiny(t)
	g.ArcsMissing = "some.npz is missing; fetch it"
	_, err := models.New(models.Default("dir-gnn"), g, nil)
	want := "some.npz is missing; fetch it; or leave them out by the setting undirected"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	without := models.Default("dir-gnn")
	without.Undirected = true
	for _, c := range []models.Config{without, models.Default("gcn")} {
		if _, err := models.New(c, g, nil); err != nil {
			t.Error(err)
		}
	}
	without.Forward = 0
	if err := without.Validate(); err == nil || !strings.Contains(err.Error(), "choose forward from 1") {
		t.Errorf("no layers: %v", err)
	}
}

// The parameters of Dir-GNN have the names and shapes of the authors' code.
func TestDirGNNParameters(t *testing.T) {
	for settings, want := range map[string]string{
		"jk none": "convs.0.lin_src_to_dst [4 7], convs.0.lin_dst_to_src [4 7], " +
			"convs.1.lin_src_to_dst [5 4], convs.1.lin_dst_to_src [5 4]",
		"jk cat conv sage": "convs.0.conv_dst_to_src.lin_l [4 7], convs.0.conv_src_to_dst.lin_l [4 7], " +
			"convs.0.lin_self [4 7], convs.1.conv_dst_to_src.lin_l [4 4], convs.1.conv_src_to_dst.lin_l [4 4], " +
			"convs.1.lin_self [4 4], lin [5 8]",
	} {
		c := modeltest.Small("dir-gnn")
		c.Hidden = 4
		dirWith(t, strings.Fields(settings)...)(&c)
		params, err := models.Parameters(c, 7, 5)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range params {
			if name, ok := strings.CutSuffix(p.Name, ".weight"); ok {
				got = append(got, fmt.Sprint(name, " ", p.Shape))
			}
		}
		if s := strings.Join(got, ", "); s != want || len(params) != 2*len(got) {
			t.Errorf("%s: %s and %d arrays, want %s", settings, s, len(params), want)
		}
		unused := c.Unused()
		if !slices.Equal(unused, []string{"alpha", "convs.0.alpha", "convs.1.alpha"}) {
			t.Errorf("unused: %v", unused)
		}
	}
}
