package solve_test

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/solve"
)

// A^-1 A is the identity, also if the entries on the diagonal of A range over twenty orders of magnitude. For a random
// matrix M, the gradient of the sum of all entries of M ∘ A^-1 equals finite differences.
func TestMatrixInverse(t *testing.T) {
	const d = 12
	rng := rand.New(rand.NewPCG(1, 2))
	matrix := func(scale float64) []float32 {
		b, a := make([]float64, d*d), make([]float32, d*d)
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		size := func(i int) float64 { return math.Pow(scale, float64(i)/(d-1)-0.5) }
		for i := range d {
			for j := range d {
				sum := 0.0
				if i == j {
					sum = 1
				}
				for k := range d {
					sum += b[i*d+k] * b[j*d+k]
				}
				a[i*d+j] = float32(sum * size(i) * size(j))
			}
		}
		return a
	}
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		exec, err := NewExec(e.Backend, func(a, m *Node) []*Node {
			y := solve.MatrixInverse(a)
			loss := ReduceAllSum(Mul(y, m))
			return []*Node{Dot(y, a).Product(), loss, Gradient(loss, a)[0]}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		for _, scale := range []float64{1, 1e10} {
			a := matrix(scale)
			out, err := exec.Call(tensors.FromFlatDataAndDimensions(a, d, d),
				tensors.FromFlatDataAndDimensions(make([]float32, d*d), d, d))
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range tensors.MustCopyFlatData[float32](out[0]) {
				i, j := k/d, k%d
				want := 0.0
				if i == j {
					want = 1
				}
				ratio := math.Sqrt(float64(a[j*d+j] / a[i*d+i])) // rounding errors grow with this ratio
				if math.Abs(float64(v)-want) > 2e-4*max(1, ratio) {
					t.Errorf("scale %g: entry (%d, %d) of A^-1 A is %g", scale, i, j, v)
				}
			}
		}
		a, m, direction := matrix(1), make([]float32, d*d), make([]float64, d*d)
		for i := range m {
			m[i], direction[i] = float32(rng.NormFloat64()), rng.NormFloat64()
		}
		at := func(h float64) []*tensors.Tensor {
			moved := make([]float32, d*d)
			for i := range moved {
				moved[i] = a[i] + float32(h*direction[i])
			}
			out, err := exec.Call(tensors.FromFlatDataAndDimensions(moved, d, d),
				tensors.FromFlatDataAndDimensions(m, d, d))
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		slope := 0.0
		for i, v := range tensors.MustCopyFlatData[float32](at(0)[2]) {
			slope += direction[i] * float64(v)
		}
		const h = 1e-2
		got := float64(tensors.ToScalar[float32](at(h)[1])-tensors.ToScalar[float32](at(-h)[1])) / (2 * h)
		if math.Abs(got-slope) > 0.02*math.Abs(slope) {
			t.Errorf("the gradient along a direction is %g, differences give %g", slope, got)
		}
	})
}
