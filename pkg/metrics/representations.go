package metrics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Smoothness measures how alike the representations X of nodes are, [n, d] with a row x_i per node. Over-smoothing
// brings GSL to 1 and the others to 0 (the effective rank to 1).
type Smoothness struct {
	// GSL is the graph smoothness level: the mean cosine similarity over all pairs of different nodes,
	//
	//	GSL(X) = 1/(n(n-1)) Σ_i Σ_{j≠i} x_i·x_j / (|x_i||x_j|)
	//
	// (paper section 4.1.3). With unit vectors u_i = x_i/|x_i|, it is computed in O(n d) as |Σ_i u_i|² - Σ_i |u_i|².
	GSL float64
	// Dirichlet is the Dirichlet energy 1/n Σ_i Σ_{j∈N(i)} |x_i - x_j|² (Rusch, Bronstein and Mishra, "A Survey on
	// Oversmoothing in Graph Neural Networks", 2023, equation 3). It grows with the square of the scale of X.
	Dirichlet float64
	// MAD is the mean average distance of neighbours (Chen et al., AAAI 2020): the cosine distance 1 - cos(x_i, x_j),
	// averaged over the neighbours j of each node i, and then over the nodes with neighbours.
	MAD float64
	// EffectiveRank is exp(-Σ_k p_k log p_k) with p_k = σ_k / Σ_l σ_l for the singular values σ of X (Roy and Vetterli,
	// EUSIPCO 2007): 1 if all rows are multiples of one row, and d if all directions are equally strong.
	EffectiveRank float64
}

// Smooth measures the representations x, [n, d] row by row, of the nodes of g. The cosine similarity to a row of zeros
// counts as 0, as in PyTorch's cosine_similarity. It is an error if there are fewer than two nodes, or if a value is
// not finite.
func Smooth[F Float](g *graphs.Graph, x []F, d int) (s Smoothness, err error) {
	n := g.NumNodes
	units, err := unitRows(x, n, d)
	if err != nil {
		return s, err
	}
	s.GSL = gsl(units, n, d)
	nodes := 0
	for i, list := range g.Neighbours() {
		sum := 0.0
		for _, j := range list {
			cos := 0.0
			for k := range d {
				difference := float64(x[i*d+k]) - float64(x[int(j)*d+k])
				s.Dirichlet += difference * difference
				cos += units[i*d+k] * units[int(j)*d+k]
			}
			sum += 1 - cos
		}
		if len(list) > 0 {
			s.MAD += sum / float64(len(list))
			nodes++
		}
	}
	s.Dirichlet /= float64(n)
	s.MAD /= float64(max(1, nodes))
	s.EffectiveRank = effectiveRank(x, n, d)
	return s, nil
}

// unitRows scales the rows of x to length 1. Rows of zeros stay.
func unitRows[F Float](x []F, n, d int) ([]float64, error) {
	if n < 2 || d < 1 || len(x)/d != n || len(x)%d != 0 {
		return nil, fmt.Errorf("smoothness needs representations of at least two nodes as [n, d]; "+
			"there are %d values for n = %d, d = %d", len(x), n, d)
	}
	units := make([]float64, len(x))
	for i := range n {
		row, unit := x[i*d:(i+1)*d], units[i*d:(i+1)*d]
		// Without the division by the largest entry, squares of very large or very small values would be infinite or 0.
		largest := 0.0
		for k, v := range row {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("entry %d of node %d's representation is %v; smoothness needs finite values",
					k, i, v)
			}
			largest = max(largest, math.Abs(float64(v)))
		}
		if largest == 0 {
			continue
		}
		squares := 0.0
		for _, v := range row {
			scaled := float64(v) / largest
			squares += scaled * scaled
		}
		length := math.Sqrt(squares)
		for k, v := range row {
			unit[k] = float64(v) / largest / length
		}
	}
	return units, nil
}

func gsl(units []float64, n, d int) float64 {
	sum, rows := make([]float64, d), 0
	for i := range n {
		zero := true
		for k, u := range units[i*d : (i+1)*d] {
			sum[k] += u
			zero = zero && u == 0
		}
		if !zero {
			rows++
		}
	}
	total := -float64(rows)
	for _, s := range sum {
		total += s * s
	}
	return total / (float64(n) * float64(n-1))
}

// effectiveRank takes the singular values from the eigenvalues of X^T X, [d, d].
func effectiveRank[F Float](x []F, n, d int) float64 {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(float64(v)))
	}
	if largest == 0 {
		return 0
	}
	values := make([]float64, len(x))
	for i, v := range x {
		values[i] = float64(v) / largest
	}
	m := mat.NewDense(n, d, values)
	var gram mat.SymDense
	gram.SymOuterK(1, m.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, false) {
		return math.NaN()
	}
	singular, sum := eigen.Values(nil), 0.0
	for k, v := range singular {
		singular[k] = math.Sqrt(max(0, v))
		sum += singular[k]
	}
	entropy := 0.0
	for _, v := range singular {
		if p := v / sum; p > 0 {
			entropy -= p * math.Log(p)
		}
	}
	return math.Exp(entropy)
}
