package metrics

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Smooth equals the definitions, written out for a small graph with an isolated node. The effective rank is compared
// with that of a singular value decomposition.
func TestSmooth(t *testing.T) {
	const n, d = 6, 4
	g, err := graphs.New("six", n, []graphs.Edge{{0, 1}, {0, 2}, {1, 2}, {3, 4}}, nil, 0, make([]int32, n), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, n*d)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	row := func(i int) *mat.VecDense { return mat.NewVecDense(d, x[i*d:(i+1)*d]) }
	energy, mad := 0.0, 0.0
	for i, list := range g.Neighbours() {
		for _, j := range list {
			a, b := row(i), row(int(j))
			var difference mat.VecDense
			difference.SubVec(a, b)
			energy += mat.Dot(&difference, &difference) / n
			mad += (1 - mat.Dot(a, b)/math.Sqrt(mat.Dot(a, a)*mat.Dot(b, b))) / float64(len(list)) / 5
		}
	}
	got, err := Smooth(g, x, d)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Dirichlet energy", got.Dirichlet, energy)
	near(t, "MAD", got.MAD, mad)
	var svd mat.SVD
	svd.Factorize(mat.NewDense(n, d, x), mat.SVDNone)
	sum, entropy := 0.0, 0.0
	for _, v := range svd.Values(nil) {
		sum += v
	}
	for _, v := range svd.Values(nil) {
		entropy -= v / sum * math.Log(v/sum)
	}
	near(t, "effective rank", got.EffectiveRank, math.Exp(entropy))
	gsl, err := GSL(x, n, d)
	near(t, "GSL", got.GSL, gsl)
	if err != nil {
		t.Fatal(err)
	}

	for i := range x { // all rows are multiples of the first
		x[i] = x[i%d] * float64(1+i/d)
	}
	if got, err = Smooth(g, x, d); err != nil {
		t.Fatal(err)
	}
	near(t, "GSL of one direction", got.GSL, 1)
	if math.Abs(got.MAD) > 1e-12 || math.Abs(got.EffectiveRank-1) > 1e-6 {
		t.Errorf("rows of one direction have MAD %g and effective rank %g", got.MAD, got.EffectiveRank)
	}
	x[5] = math.NaN()
	if _, err = Smooth(g, x, d); err == nil {
		t.Error("NaN has a smoothness")
	}
}

// GSL is [Smoothness].GSL of representations x, [n, d].
func GSL[F Float](x []F, n, d int) (float64, error) {
	units, err := unitRows(x, n, d)
	if err != nil {
		return 0, err
	}
	return gsl(units, n, d), nil
}
