package layers

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
)

// Bound scales a weight of K heads, [K d, d], head below head, down where the mean of the heads' Frobenius norms
// exceeds c (paper section 3.3 and appendix on multi-head attention):
//
//	W min(1, c / (1/K Σ_k |W^(k)|_F)),
//
// which bounds the Lipschitz constant of a [GCN] block by c, and that of a GAT block at fixed attention.
func Bound(w *Node, heads int, c float64) *Node {
	norm := HeadNorm(w, heads)
	return Div(w, Max(Div(norm, ConstAs(norm, c)), ConstAs(norm, 1)))
}

// HeadNorm is the mean of the heads' Frobenius norms, a scalar.
func HeadNorm(w *Node, heads int) *Node {
	heads = max(1, heads)
	squares := Square(Reshape(w, heads, w.Shape().Size()/heads))
	return ReduceAllMean(Sqrt(ReduceSum(squares, 1)))
}

// Frobenius is the Frobenius norm of a matrix's entries.
func Frobenius(entries []float32) float64 {
	sum := 0.0
	for _, v := range entries {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}
