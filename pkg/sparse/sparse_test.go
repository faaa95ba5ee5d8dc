package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// random is a graph with about the given number of edges, a hub joined to the first hub nodes, and its last node isolated.
func random(t *testing.T, seed uint64, n, edges, hub int) *graphs.Graph {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var list []graphs.Edge
	for i := 0; i < edges && n > 2; i++ {
		list = append(list, graphs.Edge{int32(rng.IntN(n - 1)), int32(rng.IntN(n - 1))})
	}
	for i := range hub {
		list = append(list, graphs.Edge{0, int32(1 + i)})
	}
	g, err := graphs.New(fmt.Sprintf("random %d", seed), n, list, nil, 0, make([]int32, n), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// dense is Â as a matrix.
func dense(g *graphs.Graph) [][]float64 {
	a := make([][]float64, g.NumNodes)
	degree := make([]float64, g.NumNodes)
	for i := range a {
		a[i] = make([]float64, g.NumNodes)
		a[i][i], degree[i] = 1, 1
	}
	for _, e := range g.Edges {
		a[e[0]][e[1]], a[e[1]][e[0]] = 1, 1
		degree[e[0]]++
		degree[e[1]]++
	}
	for i := range a {
		for j := range a {
			a[i][j] /= math.Sqrt(degree[i] * degree[j])
		}
	}
	return a
}

func multiply(a [][]float64, x []float32, d int) []float32 {
	out := make([]float32, len(x))
	for i := range a {
		for c := range d {
			sum := 0.0
			for j := range a {
				sum += a[i][j] * float64(x[j*d+c])
			}
			out[i*d+c] = float32(sum)
		}
	}
	return out
}

func normal(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// product returns A x and the gradient of <A x, v>, in the graph's order.
func product(t *testing.T, e *engine.Engine, m *sparse.Matrix, x, v []float32, d int) (y, dx []float32) {
	t.Helper()
	exec, err := NewExec(e.Backend, func(in []*Node) []*Node {
		y := m.On(in[2:]).Apply(in[0])
		return []*Node{y, Gradient(ReduceAllSum(Mul(y, in[1])), in[0])[0]}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	args := []any{tensors.FromFlatDataAndDimensions(sparse.Permute(m.Order(), x, d), m.Size(), d), tensors.FromFlatDataAndDimensions(sparse.Permute(m.Order(), v, d), m.Size(), d)}
	for _, a := range m.Tensors() {
		args = append(args, a)
	}
	out, err := exec.Call(args...)
	if err != nil {
		t.Fatal(err)
	}
	return sparse.Restore(m.Order(), tensors.MustCopyFlatData[float32](out[0]), d), sparse.Restore(m.Order(), tensors.MustCopyFlatData[float32](out[1]), d)
}

func farthest(a, b []float32) float64 {
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(float64(a[i]-b[i])))
	}
	return worst
}

func TestProductEqualsDense(t *testing.T) {
	cases := []struct{ n, edges, hub, d int }{
		{1, 0, 0, 3}, {2, 0, 0, 1}, {2, 0, 1, 2}, {7, 0, 0, 2}, {10, 12, 0, 1}, {50, 400, 0, 5}, {60, 20, 40, 3}, {200, 300, 33, 8},
	}
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for i, c := range cases {
			g := random(t, uint64(i), c.n, c.edges, c.hub)
			m, err := sparse.SymNorm(g)
			if err != nil {
				t.Fatal(err)
			}
			if m.Entries() != 2*len(g.Edges)+g.NumNodes {
				t.Errorf("%d nodes, %d edges: %d entries, want %d", c.n, len(g.Edges), m.Entries(), 2*len(g.Edges)+g.NumNodes)
			}
			rng := rand.New(rand.NewPCG(9, uint64(i)))
			x, v := normal(rng, c.n*c.d), normal(rng, c.n*c.d)
			y, dx := product(t, e, m, x, v, c.d)
			if diff := farthest(y, multiply(dense(g), x, c.d)); diff > 1e-5 {
				t.Errorf("%d nodes, %d edges, hub %d: the product is off by %.2g", c.n, len(g.Edges), c.hub, diff)
			}
			if diff := farthest(dx, multiply(dense(g), v, c.d)); diff > 1e-5 {
				t.Errorf("%d nodes, %d edges, hub %d: the adjoint is off by %.2g", c.n, len(g.Edges), c.hub, diff)
			}
		}
	})
}

// A star of degree 2000: its centre's row is cut into chunks, as are their sums, and only there.
func TestHub(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		g := random(t, 1, 2002, 0, 2000)
		m, err := sparse.SymNorm(g)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float32, g.NumNodes)
		for i := range x {
			x[i] = 1
		}
		y, _ := product(t, e, m, x, x, 1)
		s := math.Sqrt(2001 * 2)
		for i, want := range map[int]float64{0: 1./2001 + 2000/s, 1: 0.5 + 1/s, 2001: 1} {
			if math.Abs(float64(y[i])-want) > 1e-5*want {
				t.Errorf("node %d: %g, want %g", i, y[i], want)
			}
		}
	})
}

// Rows without any entry, which Â never has, give zero.
func TestEmptyRows(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		m, err := sparse.NewSymmetric([][]int32{nil, {2}, {1}, nil}, [][]float32{nil, {3}, {3}, nil})
		if err != nil {
			t.Fatal(err)
		}
		y, _ := product(t, e, m, []float32{1, 2, 3, 4}, []float32{1, 1, 1, 1}, 1)
		if farthest(y, []float32{0, 9, 6, 0}) != 0 {
			t.Errorf("got %v, want [0 9 6 0]", y)
		}
	})
}

func TestBadRows(t *testing.T) {
	for _, c := range []struct {
		columns [][]int32
		weights [][]float32
	}{
		{[][]int32{{0}}, nil}, {[][]int32{{0, 0}}, [][]float32{{1}}}, {[][]int32{{1}}, [][]float32{{1}}}, {[][]int32{{-1}}, [][]float32{{1}}},
	} {
		if _, err := sparse.NewSymmetric(c.columns, c.weights); err == nil {
			t.Errorf("accepted columns %v with weights %v", c.columns, c.weights)
		}
	}
}

func BenchmarkProduct(b *testing.B) {
	const n, degree, d = 10000, 8, 64
	rng := rand.New(rand.NewPCG(1, 1))
	var edges []graphs.Edge
	for range n * degree / 2 {
		edges = append(edges, graphs.Edge{int32(rng.IntN(n)), int32(rng.IntN(n))})
	}
	g, err := graphs.New("random", n, edges, nil, 0, make([]int32, n), 1, nil)
	if err != nil {
		b.Fatal(err)
	}
	m, err := sparse.SymNorm(g)
	if err != nil {
		b.Fatal(err)
	}
	e := enginetest.Open(b, engine.CPU)
	exec, err := NewExec(e.Backend, func(in []*Node) *Node { return m.On(in[1:]).Product(in[0]) })
	if err != nil {
		b.Fatal(err)
	}
	args := []any{tensors.FromFlatDataAndDimensions(normal(rng, n*d), n, d)}
	for _, a := range m.Tensors() {
		args = append(args, a)
	}
	for b.Loop() {
		out, err := exec.Call(args...)
		if err != nil {
			b.Fatal(err)
		}
		out[0].MustFinalizeAll()
	}
	b.ReportMetric(float64(m.Entries()*d*2)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// A graph without nodes has a matrix without rows, whose product is what it is given.
func TestEmptyGraph(t *testing.T) {
	m, err := sparse.SymNorm(&graphs.Graph{Name: "empty"})
	if err != nil {
		t.Fatal(err)
	}
	if m.Size() != 0 || m.Entries() != 0 || len(m.Tensors()) != 0 || len(sparse.Permute(m.Order(), []float32{}, 3)) != 0 {
		t.Errorf("size %d, %d entries, %d arrays", m.Size(), m.Entries(), len(m.Tensors()))
	}
}
