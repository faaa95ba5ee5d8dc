package models_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// power is p^k x for a matrix p.
func power(p, x *Node, k int) *Node {
	for range k {
		x = Dot(p, x).Product()
	}
	return x
}

// entry is entry k of the vector v, as a matrix [1, 1].
func entry(v *Node, k int) *Node { return Reshape(Slice(v, AxisElem(k)), 1, 1) }

func TestAPPNP(t *testing.T) {
	formula := func(d *modeltest.Dense) (logits, penalty *Node) {
		adjacency, start := d.SymNorm(Add(d.A, d.I)), perceptron(d)
		alpha := d.Config.Value("alpha").(float64)
		z := start
		for range d.Config.Value("order").(int) {
			z = Add(MulScalar(Dot(adjacency, z).Product(), 1-alpha), MulScalar(start, alpha))
		}
		return z, nil
	}
	modeltest.Equals(t, "appnp", formula)
	modeltest.Equals(t, "appnp", formula, with(t, "order", "1", "alpha", "0.4"))
}

func TestGPRGNN(t *testing.T) {
	formula := func(d *modeltest.Dense) (logits, penalty *Node) {
		adjacency, x, gamma := d.SymNorm(Add(d.A, d.I)), perceptron(d), d.Param("prop1.temp")
		logits = ZerosLike(x)
		for k := range gamma.Shape().Size() {
			logits = Add(logits, Mul(power(adjacency, x, k), entry(gamma, k)))
		}
		return logits, nil
	}
	modeltest.Equals(t, "gpr-gnn", formula)
	modeltest.Equals(t, "gpr-gnn", formula, with(t, "order", "3"))
}

// GPR-GNN multiplies features by powers of the adjacency, and adds up the results with trained coefficients. The
// coefficients start with the values of personalised PageRank: α (1 - α)^k for k < K, and (1 - α)^K for k = K. These
// values add up to 1. In this test, K is 3 and α is 0.2.
func TestGPRGNNStart(t *testing.T) {
	for _, p := range parameters(t, "gpr-gnn", with(t, "order", "3", "alpha", "0.2")) {
		if want := []float32{0.2, 0.16, 0.128, 0.512}; p.Name == "prop1.temp" && !slices.Equal(p.Draw(nil), want) {
			t.Errorf("the coefficients start at %v, want %v", p.Draw(nil), want)
		}
	}
}

// The parameters of networks with polynomial filters have the names and shapes of the PyTorch implementations. The test
// makes all models for 7 features and 5 classes, with width 4.
func TestPolynomialParameters(t *testing.T) {
	perceptron := "lin1.weight [4 7] lin1.bias [4] lin2.weight [5 4] lin2.bias [5]"
	for model, want := range map[string]string{
		"mlp": perceptron, "appnp": perceptron,
		"gpr-gnn": perceptron + " prop1.temp [3]", "bernnet": perceptron + " prop1.temp [3]",
		"chebnet": "conv1.lins.0.weight [4 7] conv1.lins.1.weight [4 7] conv1.lins.2.weight [4 7] conv1.bias [4] " +
			"conv2.lins.0.weight [5 4] conv2.lins.1.weight [5 4] conv2.lins.2.weight [5 4] conv2.bias [5]",
		"jacobiconv": "emb.modlist.2.weight [5 7] emb.modlist.2.bias [5] comb.comb_weight [1 3 5] " +
			"conv.alphas.0 [] conv.alphas.1 []",
	} {
		change := with(t, "order", "2")
		if model == "mlp" {
			change = with(t)
		}
		var got []string
		for _, p := range parameters(t, model, change) {
			got = append(got, fmt.Sprint(p.Name, " ", p.Shape))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %s, want %s", model, strings.Join(got, " "), want)
		}
	}
}

func TestBernNet(t *testing.T) {
	formula := func(d *modeltest.Dense) (logits, penalty *Node) {
		l := Sub(d.I, d.SymNorm(d.A))
		other := Sub(MulScalar(d.I, 2), l)
		x, theta := perceptron(d), d.Param("prop1.temp")
		theta = Max(theta, ZerosLike(theta))
		order := theta.Shape().Size() - 1
		logits = ZerosLike(x)
		choose := 1.0
		for k := range order + 1 {
			term := power(other, power(l, x, k), order-k)
			logits = Add(logits, Mul(MulScalar(term, choose/math.Pow(2, float64(order))), entry(theta, k)))
			choose *= float64(order-k) / float64(k+1)
		}
		return logits, nil
	}
	modeltest.Equals(t, "bernnet", formula)
	modeltest.Equals(t, "bernnet", formula, with(t, "order", "2"))
}

func TestJacobiConv(t *testing.T) {
	// This formula computes the Jacobi polynomials J_n by their explicit sum. a and b are the parameters of the
	// polynomials, P is the normalised adjacency, and C is the binomial coefficient, computed by the function choose:
	//
	//	J_n(P) = Σ_s C(n+a, n-s) C(n+b, s) ((P-I)/2)^s ((P+I)/2)^(n-s)
	choose := func(x float64, k int) float64 {
		y := 1.0
		for i := range k {
			y *= (x - float64(i)) / float64(i+1)
		}
		return y
	}
	formula := func(d *modeltest.Dense) (logits, penalty *Node) {
		p, x := d.SymNorm(d.A), d.Linear("emb.modlist.2", d.X)
		down, up := MulScalar(Sub(p, d.I), 0.5), MulScalar(Add(p, d.I), 0.5)
		value := func(name string) float64 { return d.Config.Value(name).(float64) }
		a, b, alpha := value("jacobi-a"), value("jacobi-b"), value("alpha")
		logits = ZerosLike(x)
		for n := range d.Config.Value("order").(int) + 1 {
			y := ZerosLike(x)
			for s := range n + 1 {
				c := choose(float64(n)+a, n-s) * choose(float64(n)+b, s)
				y = Add(y, MulScalar(power(down, power(up, x, n-s), s), c))
			}
			for i := range n {
				y = Mul(y, MulScalar(Tanh(d.Param(fmt.Sprintf("conv.alphas.%d", i))), alpha))
			}
			beta := Slice(d.Param("comb.comb_weight"), AxisRange(), AxisElem(n))
			logits = Add(logits, Mul(y, Reshape(beta, 1, d.Outputs)))
		}
		return logits, nil
	}
	modeltest.Equals(t, "jacobiconv", formula)
	modeltest.Equals(t, "jacobiconv", formula,
		with(t, "order", "4", "alpha", "0.5", "jacobi-a", "1.5", "jacobi-b", "-0.25"))
}

// parameters lists the parameters of a model for graphs with 7 features and 5 classes. The width of the model is at
// most 4. The function change changes further settings.
func parameters(t *testing.T, model string, change func(c *train.Config)) []models.Param {
	t.Helper()
	c := train.Default(model)
	c.Hidden = min(c.Hidden, 4)
	change(&c)
	params, err := models.Parameters(c, 7, 5)
	if err != nil {
		t.Fatal(err)
	}
	return params
}
