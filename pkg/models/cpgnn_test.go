package models_test

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

func TestCPGNNFormula(t *testing.T) {
	prior := map[string]func(d *modeltest.Dense) *Node{
		"mlp": func(d *modeltest.Dense) *Node {
			x := d.Linear("prior.0", d.X)
			return d.Linear("prior.1", Max(x, ZerosLike(x)))
		},
		"cheb": func(d *modeltest.Dense) *Node {
			l := Neg(d.SymNorm(d.A))
			polynomials := []*Node{d.I, l, Sub(MulScalar(Dot(l, l).Product(), 2), d.I)}
			x := chebyshev(polynomials, d.Linear("prior.0", d.X))
			return chebyshev(polynomials, d.Linear("prior.1", Max(x, ZerosLike(x))))
		},
	}
	for name, r := range prior {
		modeltest.Equals(t, "cpgnn", func(d *modeltest.Dense) (logits, penalty *Node) { return r(d), nil },
			func(c *train.Config) { set(t, c, "prior", name) })
		modeltest.Equals(t, "cpgnn", func(d *modeltest.Dense) (logits, penalty *Node) {
			scores, h := r(d), d.Param("H")
			first := AddScalar(Softmax(scores, 1), -1.0/3)
			b := first
			for range d.Config.Forward {
				b = Add(first, Dot(Dot(d.A, b).Product(), h).Product())
			}
			own := Neg(Div(ReduceAllSum(Mul(d.Known, LogSoftmax(scores, 1))), ReduceAllSum(d.Known)))
			return b, Add(MulScalar(own, 0.7), ReduceAllSum(Abs(ReduceSum(h, 1))))
		}, func(c *train.Config) { set(t, c, "prior", name, "pretrain", "0", "eta", "0.7") })
	}
}

// chebyshev returns Σ_k P_k X_k. The argument polynomials lists the matrices P_k, [n, n]. The argument x holds the
// matrices X_k side by side, all with the same number of columns.
func chebyshev(polynomials []*Node, x *Node) *Node {
	width, sum := x.Shape().Dimensions[1]/len(polynomials), (*Node)(nil)
	for k, p := range polynomials {
		term := Dot(p, Slice(x, AxisRange(), AxisRange(k*width, (k+1)*width))).Product()
		if sum != nil {
			term = Add(term, sum)
		}
		sum = term
	}
	return sum
}

// CPGNN has a trained matrix H̄, the compatibilities: H̄_ij says how often edges join nodes of the classes i and j. The
// last epoch of pretraining estimates H̄ from the graph's edges, the labels of training nodes, and the predicted class
// probabilities softmax(R) of all other nodes. (R are the scores that are trained in pretraining; see the type cpgnn.)
// The test compares this estimate with one that is computed without GoMLX.
func TestCPGNNEstimate(t *testing.T) {
	g := modeltest.Tiny(t)
	c := modeltest.Small("cpgnn")
	set(t, &c, "pretrain", "1", "epochs", "1", "lr", "1e-12", "hidden", "4")
	r, err := train.Fit(t.Context(), enginetest.Open(t, engine.Go), g, 0, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := compatibilities(g, priorBeliefs(g, r.Weights))
	modeltest.Near(t, "the estimate of H", r.Weights["H"].Values, want)
	if r.Weights["epoch"].Values[0] != 1 {
		t.Errorf("after one epoch, the counter is %g", r.Weights["epoch"].Values[0])
	}
}

// priorBeliefs computes the class probabilities that CPGNN's perceptron predicts from the node features alone. The
// computation goes node by node, and does not use GoMLX. The argument weights holds the weights of the perceptron.
func priorBeliefs(g *graphs.Graph, weights map[string]train.Array) [][]float64 {
	linear := func(name string, x []float64) []float64 {
		w, b := weights[name+".weight"], weights[name+".bias"]
		y := make([]float64, w.Shape[0])
		for o := range y {
			y[o] = float64(b.Values[o])
			for i, v := range x {
				y[o] += float64(w.Values[o*len(x)+i]) * v
			}
		}
		return y
	}
	var all [][]float64
	for node := range g.NumNodes {
		x := make([]float64, g.NumFeatures)
		for i := range x {
			x[i] = float64(g.Features[node*g.NumFeatures+i])
		}
		hidden := linear("prior.0", x)
		for i, v := range hidden {
			hidden[i] = max(v, 0)
		}
		p, sum := linear("prior.1", hidden), 0.0
		for i, v := range p {
			p[i] = math.Exp(v)
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		all = append(all, p)
	}
	return all
}

// compatibilities computes CPGNN's estimate of the matrix H̄ without GoMLX. H̄_ij says how often edges join nodes of
// the classes i and j; the formula is in the comment on the type cpgnn. The argument beliefs holds the class
// probabilities of all nodes.
func compatibilities(g *graphs.Graph, beliefs [][]float64) []float32 {
	c, known := g.NumClasses, g.Splits[0].Train
	h := make([]float64, c*c)
	for _, e := range g.Edges {
		for _, ends := range [][2]int32{{e[0], e[1]}, {e[1], e[0]}} {
			i, j := ends[0], ends[1]
			if !known[i] {
				continue
			}
			for k := range c {
				switch {
				case !known[j]:
					h[int(g.Labels[i])*c+k] += beliefs[j][k]
				case int(g.Labels[j]) == k:
					h[int(g.Labels[i])*c+k]++
				}
			}
		}
	}
	scale := func(at func(line, k int) int) {
		for line := range c {
			sum := 0.0
			for k := range c {
				sum += h[at(line, k)]
			}
			for k := range c {
				h[at(line, k)] /= sum
			}
		}
	}
	for range 1000 {
		scale(func(line, k int) int { return k*c + line })
		scale(func(line, k int) int { return line*c + k })
	}
	out := make([]float32, c*c)
	for i := range c {
		for j := range c {
			out[i*c+j] = float32((h[i*c+j]+h[j*c+i])/2 - 1/float64(c))
		}
	}
	return out
}

// Early stopping counts its patience from the end of pretraining.
func TestCPGNNPatience(t *testing.T) {
	c := modeltest.Small("cpgnn")
	set(t, &c, "pretrain", "12", "epochs", "20", "patience", "2", "lr", "1e-12")
	r, err := train.Fit(t.Context(), enginetest.Open(t, engine.Go), modeltest.Tiny(t), 0, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Epochs < 14 {
		t.Errorf("training stopped after %d epochs, of which 12 are pretraining and 2 are its patience", r.Epochs)
	}
}

func TestCPGNN(t *testing.T) {
	t.Parallel()
	modeltest.Check(t, "cpgnn", func(c *train.Config) {
		set(t, c, "prior", "cheb", "pretrain", "5", "eta", "0", "dropout", "0.2")
	})
}
