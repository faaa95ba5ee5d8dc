package models_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"gonum.org/v1/gonum/mat"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// residualFormula is the formula of a network of residual layers X + h(X). The function h computes the branch with
// dense matrices. If the model has a reverse process, the formula also has the inverses of the layers. They are
// computed by fixed-point iteration with the given number of iterations. The gradient goes through all iterations.
func residualFormula(h func(d *modeltest.Dense, x *Node) *Node, iterations int) modeltest.Formula {
	return func(d *modeltest.Dense) (logits, penalty *Node) {
		relu := func(x *Node) *Node { return Max(x, ZerosLike(x)) }
		x := relu(d.Linear("in_", d.X))
		forward := x
		for range d.Config.Forward {
			forward = Add(forward, h(d, forward))
		}
		if !d.Config.HasReverse() {
			return d.Linear("out.2", relu(d.Linear("out.0", forward))), nil
		}
		for range d.Config.Reverse {
			y := x
			for range iterations {
				x = Sub(y, h(d, x))
			}
		}
		return d.Linear("out", Concatenate([]*Node{forward, x}, 1)), nil
	}
}

// normalised is Â, the symmetrically normalised adjacency with self loops.
func normalised(d *modeltest.Dense) *Node { return d.SymNorm(Add(d.A, d.I)) }

// times is x W^T for the parameter W with the given name.
func times(d *modeltest.Dense, x *Node, name string) *Node {
	return Dot(x, Transpose(d.Param(name), 0, 1)).Product()
}

// sageBranch is the branch σ(Â X W + X V + b) with the activation sigma.
func sageBranch(sigma func(*Node) *Node) func(d *modeltest.Dense, x *Node) *Node {
	return func(d *modeltest.Dense, x *Node) *Node {
		u := times(d, Dot(normalised(d), x).Product(), "stack.0.body.lin.weight")
		u = Add(u, times(d, x, "stack.0.body.ego.weight"))
		return sigma(Add(u, ExpandLeftToRank(d.Param("stack.0.body.bias"), 2)))
	}
}

// The models sage-res and sage+rep give the same logits and gradients as their formulas on dense matrices. sage+rep is
// tested with every activation.
func TestSAGEResidualFormula(t *testing.T) {
	plain := func(c *train.Config) { c.Norm = "none" }
	small := func(c *train.Config) { c.Norm, c.Lipschitz = "none", 0.5 }
	modeltest.Equals(t, "sage-res", residualFormula(sageBranch(relu), 0), plain)
	for name, sigma := range map[string]func(*Node) *Node{
		"relu":       relu,
		"leaky-relu": func(x *Node) *Node { return Max(x, MulScalar(x, 0.2)) },
		"elu":        func(x *Node) *Node { return Where(GreaterThan(x, ZerosLike(x)), x, Sub(Exp(x), OnesLike(x))) },
		"tanh":       Tanh,
		"softplus":   func(x *Node) *Node { return Log1p(Exp(x)) },
	} {
		t.Run(name, func(t *testing.T) {
			modeltest.Equals(t, "sage+rep", residualFormula(sageBranch(sigma), 40), small,
				func(c *train.Config) { c.Activation = name })
		})
	}
}

// With the setting bound = spectral, training keeps the sum of the weights' spectral norms at or below the bound, also
// with a large learning rate. The test computes spectral norms as largest singular values. sage+rep has two weights, W
// and V, and gcn+rep has W alone. gat+rep has a matrix W for each head and, with the setting ego, which is set here,
// also V. Its sum is the norm of V plus the mean of the norms of the heads' matrices.
func TestSpectralBoundHolds(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	for _, model := range []string{"sage+rep", "gcn+rep", "gat+rep"} {
		c := modeltest.Small(model)
		c.Lipschitz, c.LearningRate, c.Bound, c.Norm, c.Dropout = 0.3, 0.1, "spectral", "none", 0
		if c.Heads > 0 {
			c.Heads, c.Ego = 2, true
		}
		r, err := train.Fit(t.Context(), e, modeltest.Board(t, 8), 0, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		sum := spectral(r.Weights["stack.0.body.lin.weight"], max(1, c.Heads))
		if ego, ok := r.Weights["stack.0.body.ego.weight"]; ok {
			sum += spectral(ego, 1)
		}
		if sum > 0.3*(1+1e-6) || sum < 0.25 {
			t.Errorf("%s: the sum of the spectral norms is %g after steps of 0.1, want it close below its bound 0.3",
				model, sum)
		}
	}
}

// spectral returns the largest singular value of a matrix. If this matrix holds the matrices of several heads, one
// below the other, spectral returns the mean of the largest singular values of the heads' matrices.
func spectral(a train.Array, heads int) float64 {
	rows, columns, sum := a.Shape[0]/heads, a.Shape[1], 0.0
	for k := range heads {
		m := mat.NewDense(rows, columns, nil)
		for i := range rows * columns {
			m.Set(i/columns, i%columns, float64(a.Values[k*rows*columns+i]))
		}
		var svd mat.SVD
		svd.Factorize(m, mat.SVDNone)
		sum += svd.Values(nil)[0] / float64(heads)
	}
	return sum
}

// 64 reverse layers recover the input of 64 forward layers with a mean absolute error of at most 1e-5. The bound on the
// spectral norm is 0.25. This corresponds to the paper, where the Frobenius norm is near 1: a random d x d matrix of
// Frobenius norm 1 has a spectral norm of about 2/sqrt(d), which is 0.25 for width 64. With larger weights, the forward
// layers enlarge some columns of the features by many orders of magnitude. The other columns are then lost to rounding
// in single precision.
func TestSAGEInverts(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		c := train.Default("sage+rep")
		c.Forward, c.MaxIterations, c.Lipschitz = 64, 40, 0.25
		inv, err := train.Invert(t.Context(), e, modeltest.Board(t, 12), c)
		if err != nil {
			t.Fatal(err)
		}
		if !(inv.MeanAbsError <= 1e-5) {
			t.Errorf("the mean absolute error of 64 layers is %g", inv.MeanAbsError)
		}
	})
}

// With the setting ego, GAT has a separate weight V for the node itself. Then gat+rep passes the checks that all models
// must pass, and gat gives the same logits and gradients as its formula. sage+rep passes the checks with the setting
// normalise = reparametrise, where the model itself scales its weights down to the bound.
func TestEgoGAT(t *testing.T) {
	t.Parallel()
	modeltest.Check(t, "gat+rep", func(c *train.Config) { c.Ego, c.Heads, c.Activation = true, 2, "elu" })
	modeltest.Check(t, "sage+rep", func(c *train.Config) { c.Normalise, c.Norm = "reparametrise", "layer" })
	modeltest.Equals(t, "gat", residualFormula(func(d *modeltest.Dense, x *Node) *Node {
		z := times(d, x, "stack.0.body.lin.weight")
		vector := func(name string) *Node { return Reshape(d.Param("stack.0.body."+name), -1, 1) }
		score := Add(Dot(z, vector("att_dst")).Product(), Transpose(Dot(z, vector("att_src")).Product(), 0, 1))
		a := d.SoftmaxOver(Max(score, MulScalar(score, 0.2)), Add(d.A, d.I))
		u := Add(Dot(a, z).Product(), times(d, x, "stack.0.body.ego.weight"))
		u = Add(u, ExpandLeftToRank(d.Param("stack.0.body.bias"), 2))
		return Max(u, ZerosLike(u))
	}, 0), func(c *train.Config) { c.Ego = true })
}
