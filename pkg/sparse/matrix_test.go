package sparse_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// reversed is the order n-1 … 0. It differs from the default order of every matrix in these tests, so that results of
// products must be reordered.
func reversed(n int) sparse.Order {
	o := sparse.AsGiven(n)
	slices.Reverse(o)
	return o
}

type matrixCase struct {
	a             *sparse.CSR
	m             *sparse.Matrix
	rows, columns sparse.Order
}

// matrices are laid out for the engine, and on CPUs for GPUs, too.
func matrices(e *engine.Engine) map[string]matrixCase {
	layout := sparse.LayoutFor(e.Backend)
	all := matricesFor(layout)
	if layout == sparse.ForCPU {
		for name, c := range matricesFor(sparse.ForGPU) {
			all[name+", for GPUs"] = c
		}
	}
	return all
}

func matricesFor(layout sparse.Layout) map[string]matrixCase {
	hub := random(4, 1300, 300, 1100)
	square := func(a *sparse.CSR, o sparse.Order) matrixCase {
		m := must(sparse.NewMatrix(a, o, layout))
		return matrixCase{a, m, m.Order(), m.Order()}
	}
	rectangle := func(a *sparse.CSR, rows, columns sparse.Order) matrixCase {
		m := must(sparse.NewRectangular(a, rows, columns, layout))
		if rows == nil {
			rows = sparse.AsGiven(a.Rows)
		}
		if columns == nil {
			columns = sparse.AsGiven(a.Columns)
		}
		return matrixCase{a, m, rows, columns}
	}
	norm := func(g *graphs.Graph) *sparse.CSR { return sparse.Adjacency(g).WithSelfLoops().SymmetricNormalised() }
	return map[string]matrixCase{
		"one node":                   square(norm(random(1, 1, 0, 0)), nil),
		"no entries":                 square(sparse.Adjacency(random(2, 7, 0, 0)), nil),
		"short rows":                 square(norm(random(3, 50, 100, 0)), nil),
		"hub of three levels":        square(norm(hub), nil),
		"long rows alone":            square(norm(complete(40)), nil),
		"sums over neighbours":       square(sparse.Adjacency(random(5, 200, 300, 33)), nil),
		"means over neighbours":      square(sparse.Adjacency(hub).RowNormalised(), nil),
		"columns that add up to 1":   square(sparse.Adjacency(random(6, 60, 100, 40)).RowNormalised().Transpose(), nil),
		"symmetric in another order": square(norm(random(7, 150, 200, 120)), reversed(150)),
		"directed":                   square(directed(8, 90, 90, 300, 70), nil),
		"directed, another order":    square(directed(9, 90, 90, 300, 70), reversed(90)),
		"wide":                       rectangle(directed(10, 40, 130, 200, 120), nil, nil),
		"tall, ordered":              rectangle(directed(11, 130, 40, 200, 35), reversed(130), reversed(40)),
		"square between two sets":    rectangle(norm(random(12, 50, 100, 20)), nil, reversed(50)),
	}
}

// TestProductEqualsDense computes products with a sparse matrix, products with its transpose, and derivatives of these
// products. The results must equal the results with dense matrices.
func TestProductEqualsDense(t *testing.T) {
	const d = 3
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, c := range matrices(e) {
			rng := rand.New(rand.NewPCG(5, 6))
			n, m := c.a.Rows, c.a.Columns
			// a is the dense matrix. Its rows and columns are brought into the orders that the sparse matrix has.
			a := sparse.Permute(c.rows, dense(c.a), m)
			for i := range n {
				copy(a[i*m:], sparse.Permute(c.columns, a[i*m:(i+1)*m], 1))
			}
			out := call(t, e, c.m.Tensors(), func(in, arrays []*Node) []*Node {
				a, x, v := in[0], in[1], in[2]
				at := Transpose(a, 0, 1)
				o := c.m.On(arrays)
				y, z := o.Product(x), o.Transposed().Product(v)
				dx := Gradient(ReduceAllSum(Mul(y, v)), x)[0]
				dv := Gradient(ReduceAllSum(Mul(z, x)), v)[0]
				// This checks a second derivative. Let y = A x. Squares and the product v y are entry by entry. The
				// gradient of Σ v y² with respect to x is G = 2 A^T (v y). The inner product of G and x is 2 Σ v y²,
				// and the gradient of this number is 4 A^T (v y).
				twice := Gradient(ReduceAllSum(Mul(Gradient(ReduceAllSum(Mul(Square(y), v)), x)[0], x)), x)[0]
				ax := Dot(a, x).Product()
				want := MulScalar(Dot(at, Mul(ax, v)).Product(), 4)
				return []*Node{y, ax, z, Dot(at, v).Product(), dx, Dot(at, v).Product(), dv, ax, twice, want}
			}, matrix(a, n, m), matrix(normal(rng, m*d), m, d), matrix(normal(rng, n*d), n, d))
			whats := []string{"product", "transposed product", "cotangent", "cotangent of the transposed",
				"second derivative"}
			for i, what := range whats {
				if off := farthest(flat(out[2*i]), flat(out[2*i+1])); !(off < 2e-5) {
					t.Errorf("%s: the %s is off by %.2g", name, what, off)
				}
			}
		}
	})
}

// TestMatrixArrays checks that a matrix has only the arrays that its products need. Entries need two arrays: one for
// columns and one for weights. Chunks need two more arrays. If the rows are not in the order by length, one more array
// is needed to reorder results.
func TestMatrixArrays(t *testing.T) {
	all := matricesFor(sparse.ForCPU)
	for name, want := range map[string]int{
		"short rows": 2, "hub of three levels": 4, "symmetric in another order": 5, "no entries": 0,
	} {
		c := all[name]
		if got := len(c.m.Tensors()); got != want || !c.m.Symmetric() {
			t.Errorf("%s: %d arrays, want %d; symmetric: %v", name, got, want, c.m.Symmetric())
		}
	}
	c := all["means over neighbours"]
	if c.m.Symmetric() || c.m.Entries() != c.a.Entries() || c.m.Places() < c.m.Entries() {
		t.Errorf("means: symmetric %v, %d entries in %d places, want %d",
			c.m.Symmetric(), c.m.Entries(), c.m.Places(), c.a.Entries())
	}
}

// TestOneOrder checks two things. First, all matrices of the same graph have the same default order. A model that uses
// several of these matrices then need not reorder the results of products. Second, Restore undoes Permute.
func TestOneOrder(t *testing.T) {
	a := sparse.Adjacency(random(3, 200, 600, 150))
	want := must(sparse.NewMatrix(a, nil, sparse.ForCPU)).Order()
	for name, o := range map[string]sparse.Order{
		"A + I": must(sparse.NewMatrix(a.WithSelfLoops(), nil, sparse.ForCPU)).Order(),
		"mean":  must(sparse.NewMatrix(a.RowNormalised(), nil, sparse.ForCPU)).Order(),
		"heads": must(sparse.NewPattern(a.WithSelfLoops(), sparse.PatternOptions{Heads: 3})).Order(),
	} {
		if !slices.Equal(o, want) {
			t.Errorf("%s is in another order than A", name)
		}
	}
	back := sparse.Restore(want, sparse.Permute(want, sparse.AsGiven(200), 1), 1)
	if !slices.Equal(back, sparse.AsGiven(200)) {
		t.Error("Restore does not undo Permute")
	}
}

// TestHub checks a product with a matrix that has one very long row: node 0 has edges to 2000 other nodes. The row is
// cut into more chunks than one sum can add up. Therefore the list of the chunks' sums is cut into chunks, too, and the
// matrix has a third level. All other rows are short. The result must equal the sums computed by hand.
func TestHub(t *testing.T) {
	m := must(sparse.SymNorm(random(1, 2002, 0, 2000), sparse.ForCPU))
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		x := slices.Repeat([]float32{1}, 2002)
		y := call(t, e, m.Tensors(), func(in, arrays []*Node) []*Node {
			return []*Node{m.On(arrays).Product(in[0])}
		}, matrix(x, 2002, 1))
		got := sparse.Restore(m.Order(), flat(y[0]), 1)
		s := math.Sqrt(2001 * 2)
		for i, want := range map[int]float64{0: 1./2001 + 2000/s, 1: 0.5 + 1/s, 2001: 1} {
			if math.Abs(float64(got[i])-want) > 1e-5*want {
				t.Errorf("node %d: %g, want %g", i, got[i], want)
			}
		}
	})
}

// A graph without nodes has a matrix without rows.
func TestEmptyGraph(t *testing.T) {
	m := must(sparse.SymNorm(&graphs.Graph{Name: "empty"}, sparse.ForCPU))
	permuted := sparse.Permute(m.Order(), []float32{}, 3)
	if m.Size() != 0 || m.Entries() != 0 || len(m.Tensors()) != 0 || len(permuted) != 0 {
		t.Errorf("size %d, %d entries, %d arrays", m.Size(), m.Entries(), len(m.Tensors()))
	}
}

func BenchmarkProduct(b *testing.B) {
	const n, degree, d = 10000, 8, 64
	g := random(1, n, n*degree/2, 0)
	m := must(sparse.SymNorm(g, sparse.ForCPU))
	e := enginetest.Open(b, engine.CPU)
	exec, err := NewExec(e.Backend, func(in []*Node) *Node { return m.On(in[1:]).Product(in[0]) })
	if err != nil {
		b.Fatal(err)
	}
	args := []any{matrix(normal(rand.New(rand.NewPCG(1, 1)), n*d), n, d)}
	for _, a := range m.Tensors() {
		args = append(args, a)
	}
	for b.Loop() {
		out, err := exec.Call(args...)
		if err != nil {
			b.Fatal(err)
		}
		tensors.MustCopyFlatData[float32](out[0])
		out[0].MustFinalizeAll()
	}
	b.ReportMetric(float64(m.Entries()*d*2)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
