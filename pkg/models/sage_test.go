package models_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

func TestSAGE(t *testing.T) {
	modeltest.Check(t, "sage")
	modeltest.Check(t, "sage", func(c *train.Config) {
		c.Dropout = 0.2
		if err := c.Set("hidden-dim-multiplier", "2"); err != nil {
			t.Fatal(err)
		}
	})
}

// The parameters have the names and shapes of Platonov et al.'s model.
func TestSAGEParameters(t *testing.T) {
	c := models.Default("sage")
	c.Forward, c.Hidden = 2, 4
	if err := c.Set("hidden-dim-multiplier", "3"); err != nil {
		t.Fatal(err)
	}
	params, err := models.Parameters(c, 7, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]int{"input_linear": {4, 7}, "output_normalization": {4}, "output_linear": {5, 4}}
	for _, layer := range []string{"residual_modules.0.", "residual_modules.1."} {
		want[layer+"normalization"] = []int{4}
		want[layer+"module.feed_forward_module.linear_1"] = []int{12, 8}
		want[layer+"module.feed_forward_module.linear_2"] = []int{4, 12}
	}
	got := map[string][]int{}
	for _, p := range params {
		got[p.Name] = p.Shape
	}
	if len(got) != 2*len(want) {
		t.Errorf("%d parameters, want %d: %v", len(got), 2*len(want), got)
	}
	for name, shape := range want {
		if !slices.Equal(got[name+".weight"], shape) || !slices.Equal(got[name+".bias"], shape[:1]) {
			t.Errorf("%s: weight %v and bias %v, want %v and %v",
				name, got[name+".weight"], got[name+".bias"], shape, shape[:1])
		}
	}
}

// A network of one layer gives what a computation by hand gives, on a triangle with a tail and an isolated node.
func TestSAGEByHand(t *testing.T) {
	const nodes, features, d, classes = 5, 3, 4, 3
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float32 {
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(rng.NormFloat64())
		}
		return values
	}
	all := []bool{true, true, true, true, true}
	none := make([]bool, nodes)
	g, err := graphs.New("triangle", nodes, []graphs.Edge{{0, 1}, {1, 2}, {0, 2}, {2, 3}}, draw(nodes*features),
		features, []int32{0, 1, 2, 0, 1}, classes, []graphs.Split{{Train: all, Val: none, Test: none}})
	if err != nil {
		t.Fatal(err)
	}
	c := train.Default("sage")
	c.Forward, c.Hidden = 1, d
	if err := c.Set("hidden-dim-multiplier", "2"); err != nil {
		t.Fatal(err)
	}
	params, err := models.Parameters(c.Config, features, classes)
	if err != nil {
		t.Fatal(err)
	}
	weights := map[string]train.Array{}
	for _, p := range params {
		size := 1
		for _, n := range p.Shape {
			size *= n
		}
		weights[p.Name] = train.Array{Shape: p.Shape, Values: draw(size)}
	}

	linear := func(name string, x [][]float64) [][]float64 {
		w, b := weights[name+".weight"].Values, weights[name+".bias"].Values
		return rows(x, func(row []float64) []float64 {
			y := make([]float64, len(b))
			for o := range y {
				y[o] = float64(b[o])
				for k, v := range row {
					y[o] += float64(w[o*len(row)+k]) * v
				}
			}
			return y
		})
	}
	norm := func(name string, x [][]float64) [][]float64 {
		w, b := weights[name+".weight"].Values, weights[name+".bias"].Values
		return rows(x, func(row []float64) []float64 {
			mean, variance, y := 0.0, 0.0, make([]float64, len(row))
			for _, v := range row {
				mean += v / float64(len(row))
			}
			for _, v := range row {
				variance += (v - mean) * (v - mean) / float64(len(row))
			}
			for k, v := range row {
				y[k] = (v-mean)/math.Sqrt(variance+1e-5)*float64(w[k]) + float64(b[k])
			}
			return y
		})
	}
	gelu := func(x [][]float64) [][]float64 {
		return rows(x, func(row []float64) []float64 {
			y := make([]float64, len(row))
			for k, v := range row {
				y[k] = v * (1 + math.Erf(v/math.Sqrt2)) / 2
			}
			return y
		})
	}
	f := make([][]float64, nodes)
	for i := range f {
		for _, v := range g.Features[i*features : (i+1)*features] {
			f[i] = append(f[i], float64(v))
		}
	}
	neighbours := [][]int{{1, 2}, {0, 2}, {0, 1, 3}, {2}, {}}
	x := gelu(linear("input_linear", f))
	z := norm("residual_modules.0.normalization", x)
	y := make([][]float64, nodes)
	for i := range y {
		y[i] = make([]float64, 2*d)
		copy(y[i], z[i])
		for _, j := range neighbours[i] {
			for k, v := range z[j] {
				y[i][d+k] += v / float64(len(neighbours[i]))
			}
		}
	}
	const ffn = "residual_modules.0.module.feed_forward_module."
	h := linear(ffn+"linear_2", gelu(linear(ffn+"linear_1", y)))
	for i := range x {
		for k := range x[i] {
			x[i][k] += h[i][k]
		}
	}
	representation := norm("output_normalization", x)
	logits := linear("output_linear", representation)

	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		p, err := train.Predict(e, g, 0, c, weights, false)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "representation", p.Representation, representation)
		near(t, "logits", p.Logits, logits)
	})
}

// rows is f of each row of x.
func rows(x [][]float64, f func(row []float64) []float64) [][]float64 {
	var y [][]float64
	for _, row := range x {
		y = append(y, f(row))
	}
	return y
}

// near compares an array, row-major, with one computed by hand.
func near(t *testing.T, what string, got []float32, want [][]float64) {
	t.Helper()
	flat := slices.Concat(want...)
	if len(got) != len(flat) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(flat))
	}
	for k, v := range flat {
		if math.Abs(float64(got[k])-v) > 1e-4*(1+math.Abs(v)) {
			t.Errorf("%s of node %d, column %d: %g, by hand %g", what, k/len(want[0]), k%len(want[0]), got[k], v)
		}
	}
}
