package sparse_test

import (
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func TestRectangularEqualsDense(t *testing.T) {
	const n, m, d = 90, 130, 3
	cases := map[string]func(i, j int, rng *rand.Rand) bool{
		"one in 20":       func(_, _ int, rng *rand.Rand) bool { return rng.IntN(20) == 0 },
		"nothing":         func(_, _ int, _ *rand.Rand) bool { return false },
		"a full column":   func(_, j int, _ *rand.Rand) bool { return j == 7 },
		"a full row":      func(i, _ int, _ *rand.Rand) bool { return i == 3 },
		"empty and alike": func(i, j int, _ *rand.Rand) bool { return i%2 == 0 && (i+j)%26 == 0 },
	}
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, has := range cases {
			rng := rand.New(rand.NewPCG(1, 2))
			rows := normal(rng, n*m)
			for k := range rows {
				if !has(k/m, k%m, rng) {
					rows[k] = 0
				}
			}
			r, err := sparse.NewRectangular(rows, m)
			if err != nil {
				t.Fatal(err)
			}
			exec, err := NewExec(e.Backend, func(in []*Node) []*Node {
				x, w, v := in[0], in[1], in[2]
				off := func(a, b *Node) *Node { return ReduceAllMax(Abs(Sub(a, b))) }
				return []*Node{off(r.Product(w, in[3:]), Dot(x, w).Product()), off(r.Pull(v, in[3:]), Dot(Transpose(x, 0, 1), v).Product())}
			})
			if err != nil {
				t.Fatal(err)
			}
			args := []any{tensors.FromFlatDataAndDimensions(rows, n, m), tensors.FromFlatDataAndDimensions(normal(rng, m*d), m, d), tensors.FromFlatDataAndDimensions(normal(rng, n*d), n, d)}
			for _, a := range r.Tensors() {
				args = append(args, a)
			}
			out, err := exec.Call(args...)
			if err != nil {
				t.Fatal(err)
			}
			for i, what := range []string{"product", "cotangent"} {
				if diff := tensors.ToScalar[float32](out[i]); !(diff < 2e-5) {
					t.Errorf("%s: the %s is off by %.2g", name, what, diff)
				}
			}
			exec.Finalize()
		}
	})
}

func TestRectangularRefuses(t *testing.T) {
	for _, columns := range []int{0, -1, 4} {
		if _, err := sparse.NewRectangular(make([]float32, 6), columns); err == nil {
			t.Errorf("6 numbers were accepted as rows of %d", columns)
		}
	}
}
