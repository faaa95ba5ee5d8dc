package layers_test

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// star makes the pattern of a graph. The graph consists of a cycle, a hub on this cycle with about 100 neighbours, and
// an isolated node, number 110. star also returns a matrix that tells which nodes are neighbours; each node counts as
// its own neighbour.
func star(t *testing.T, e *engine.Engine) (*sparse.Pattern, [][]bool) {
	t.Helper()
	const n = 111
	var edges []graphs.Edge
	for i := range int32(100) {
		edges = append(edges, graphs.Edge{5, 6 + i})
	}
	for i := range int32(n - 1) {
		edges = append(edges, graphs.Edge{i, (i + 1) % (n - 1)})
	}
	g, err := graphs.New("star", n, edges, nil, 0, make([]int32, n), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sparse.NewPattern(sparse.Adjacency(g).WithSelfLoops(),
		sparse.PatternOptions{Uses: sparse.ForGradients | sparse.ForDiagonal,
			Layout: sparse.LayoutFor(e.Backend)})
	if err != nil {
		t.Fatal(err)
	}
	joined := make([][]bool, n)
	for i := range joined {
		joined[i] = make([]bool, n)
		joined[i][i] = true
	}
	for _, e := range g.Edges {
		joined[e[0]][e[1]], joined[e[1]][e[0]] = true, true
	}
	return s, joined
}

// onStar executes f on the graph of [star] and returns the results of f. The arguments q and k of f are random arrays,
// [n, 6], with entries of about the size scale. x and v are random arrays, [n, 4], with entries of about the size 1.
// The mask, [n, n], is 1 at (i, j) if the nodes i and j are neighbours or equal, and 0 otherwise. arrays are the
// tensors of s, the pattern that star made.
//
// The pattern lists the nodes in another order than the graph. The arrays that f gets and returns are in the pattern's
// order. The argument mask of onStar, and the matrices that onStar returns, are in the graph's order.
func onStar(t *testing.T, e *engine.Engine, scale float64, s *sparse.Pattern,
	f func(q, k, x, v, mask *Node, arrays []*Node) []*Node, mask []float32) [][]float32 {
	t.Helper()
	n := s.Size()
	exec, err := NewExec(e.Backend, func(in []*Node) []*Node { return f(in[0], in[1], in[2], in[3], in[4], in[5:]) })
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	var args []any
	for i, d := range []int{6, 6, 4, 4} {
		size := math.Sqrt(float64(n * d))
		if i < 2 {
			size *= scale
		}
		v := tensors.MustCopyFlatData[float32](draw(uint64(20+i), size, n, d))
		args = append(args, tensors.FromFlatDataAndDimensions(sparse.Permute(s.Order(), v, d), n, d))
	}
	// The pattern lists the nodes in another order than the graph. The next lines put the rows and the columns of the
	// mask into the pattern's order.
	mask = sparse.Permute(s.Order(), mask, n)
	turned := make([]float32, len(mask))
	for i := range n {
		copy(turned[i*n:], sparse.Permute(s.Order(), mask[i*n:(i+1)*n], 1))
	}
	args = append(args, tensors.FromFlatDataAndDimensions(turned, n, n))
	for _, a := range s.Tensors() {
		args = append(args, a)
	}
	out, err := exec.Call(args...)
	if err != nil {
		t.Fatal(err)
	}
	values := make([][]float32, len(out))
	for i, o := range out {
		values[i] = tensors.MustCopyFlatData[float32](o)
		if dims := o.Shape().Dimensions; len(dims) == 2 {
			values[i] = sparse.Restore(s.Order(), values[i], dims[1])
		}
	}
	return values
}

// GRAND's operations along edges give the same results as operations with dense matrices. The matrix of GRAND is
// M = a (A - I), where A is the attention, I is the identity matrix, and the rate a is a scalar. The test compares the
// products M x and M^T x, the solution of the differential equation dx/dt = M x, and the gradients with respect to the
// queries q, the keys k and the initial state x. It compares them for attention scores of ordinary size, and for scores
// so large that their exponentials would overflow.
func TestAttentionEqualsDense(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		s, joined := star(t, e)
		n := s.Size()
		mask := make([]float32, n*n)
		for i := range joined {
			for j, is := range joined[i] {
				if is {
					mask[i*n+j] = 1
				}
			}
		}
		for _, scale := range []float64{1, 20} {
			for _, heads := range []int{1, 3} {
				o := solve.Integration{Method: solve.RK4(), To: 1, Step: 0.5, MaxEvaluations: 100}
				ours := onStar(t, e, scale, s, func(q, k, x, v, _ *Node, arrays []*Node) []*Node {
					rate := Sigmoid(ReduceAllMean(q))
					a := s.On(arrays).Bare()
					w := layers.NewDiffusionWeights(a, layers.Attention(a, q, k, nil, heads), rate)
					y := solve.Integrate(layers.Diffusion{}, x, w, o).Z
					grads := Gradient(ReduceAllSum(Mul(y, v)), q, k, x)
					return append([]*Node{a.Product(w.M, x), a.Product(w.MT, x), y}, grads...)
				}, mask)
				want := onStar(t, e, scale, s, func(q, k, x, v, mask *Node, _ []*Node) []*Node {
					d := 6 / heads
					var a *Node
					for h := range heads {
						columns := func(x *Node) *Node { return Slice(x, AxisRange(), AxisRange(h*d, (h+1)*d)) }
						scores := DivScalar(Dot(columns(q), Transpose(columns(k), 0, 1)).Product(),
							math.Sqrt(float64(d)))
						p := Softmax(Where(GreaterThan(mask, ZerosLike(mask)), scores,
							MulScalar(OnesLike(scores), -1e30)), 1)
						if a == nil {
							a = p
						} else {
							a = Add(a, p)
						}
					}
					eye := ConvertDType(Equal(Iota(q.Graph(), mask.Shape(), 0), Iota(q.Graph(), mask.Shape(), 1)),
						x.DType())
					m := Mul(Sub(DivScalar(a, float64(heads)), eye), Sigmoid(ReduceAllMean(q)))
					y := x
					for range 2 { // two steps of RK4: for a linear equation, each is a polynomial of M
						term := y
						for i := 1; i <= 4; i++ {
							term = MulScalar(Dot(m, term).Product(), 0.5/float64(i))
							y = Add(y, term)
						}
					}
					grads := Gradient(ReduceAllSum(Mul(y, v)), q, k, x)
					return append([]*Node{Dot(m, x).Product(), Dot(Transpose(m, 0, 1), x).Product(), y}, grads...)
				}, mask)
				for i, what := range []string{"M x", "M^T x", "integral", "dq", "dk", "dx"} {
					compare(t, what, ours[i], want[i], 5e-5)
				}
				// The last node is isolated and attends to itself alone. Its features do not change with time, and so
				// its row of M x is 0.
				for c, v := range ours[0][(n-1)*4:] {
					if math.Abs(float64(v)) > 1e-7 {
						t.Errorf("the isolated node changes by %g in column %d", v, c)
					}
				}
			}
		}
	})
}
