package models

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "chebnet", Weighted: true, Title: "ChebNet",
		Layer:     "Σ_k T_k(L − I) X W_k + b, T_k Chebyshev polynomials; two layers",
		Reference: "Defferrard et al., NeurIPS 2016, as in He et al., NeurIPS 2021",
		Shared:    []string{"hidden", "dropout"},
		Own:       polynomial{1},
		Defaults:  func(c *Config) { c.Hidden, c.Dropout = 32, 0.5 }, Depth: filterDepth,
		New: func(c Config) Network { return &chebNet{order: OwnOf[polynomial](c).Order} }})
}

// chebNet is ChebNet (Defferrard, Bresson and Vandergheynst, NeurIPS 2016) as a network of He et al. (NeurIPS 2021).
// The parameters have the names of PyTorch Geometric's ChebConv, whose own K is the number of weights, K + 1 here:
//
//	H      = dropout(ReLU(Σ_{k=0..K} T_k(L - I) X W1_k^T + b1))    features X [n, features], H [n, d]
//	logits = Σ_{k=0..K} T_k(L - I) H W2_k^T + b2                   [n, outputs]
//
// T_k are Chebyshev polynomials, for eigenvalues within ±1; those of L = I - D^-1/2 A D^-1/2 are between 0 and 2. A
// weight [out, in] starts uniform in ±sqrt(6/(in + out)) (Glorot and Bengio 2010), biases at 0. The defaults are those
// of He et al. (and Chien et al., ICLR 2021).
//
// If X is dense, Prepare computes all T_k X once. T_k X of a sparse X would not be sparse: there, and in the second
// layer, [chebNet.filtered] multiplies the narrower X W_k^T.
type chebNet struct {
	order  int
	matrix *sparse.Matrix    // P = D^-1/2 A D^-1/2 = I - L
	before []*tensors.Tensor // T_1 X … T_K X of dense features
}

func (n *chebNet) Prepare(g *graphs.Graph, a *Arrays) {
	p := sparse.Adjacency(g).SymmetricNormalised()
	n.matrix = a.Matrix(p)
	if _, is := Sparse(g); is {
		return
	}
	before, now := []float32(nil), g.Features
	for k := range n.order {
		// T_{k+1}(-P) X = -2 P T_k(-P) X - T_{k-1}(-P) X for k > 0,  T_1(-P) X = -P X
		next := p.Product(now, g.NumFeatures)
		for i, v := range next {
			next[i] = -v
			if k > 0 {
				next[i] = -2*v - before[i]
			}
		}
		before, now = now, next
		n.before = append(n.before, a.Rows(now, g.NumFeatures))
	}
}

// Build implements [Network]. The representation is H.
func (n *chebNet) Build(b *Builder) Output {
	w, bias := n.weights(b, "conv1", b.Features, b.Config.Hidden)
	var x *Node
	if n.before != nil {
		x = b.Model.features.times(w[0], b.features)
		for k, filtered := range n.before {
			x = Add(x, times(b.Array(filtered), w[k+1]))
		}
	} else {
		x = n.filtered(b, b.Model.features.times(Concatenate(w, 0), b.features))
	}
	x = Add(x, bias)
	h := b.Dropout(relu(x))
	w, bias = n.weights(b, "conv2", b.Config.Hidden, b.Outputs)
	y := n.filtered(b, times(h, Concatenate(w, 0)))
	return Output{Logits: Add(y, bias), Representation: h}
}

// weights declares the W_0 … W_K, [out, in] each, and the bias, [1, out], of the layer "conv1" or "conv2".
func (n *chebNet) weights(b *Builder, name string, in, out int) (w []*Node, bias *Node) {
	limit := math.Sqrt(6 / float64(in+out))
	for k := range n.order + 1 {
		name := fmt.Sprintf("%s.lins.%d.weight", name, k)
		w = append(w, b.Param(Param{Name: name, Shape: []int{out, in}, Limit: limit}))
	}
	return w, Reshape(b.Param(Param{Name: name + ".bias", Shape: []int{out}}), 1, out)
}

// filtered is Σ_k T_k(-P) Y_k, [n, d]; y holds Y_0 … Y_K side by side. It is B_0 in the recursion of Clenshaw (1955):
//
//	B_k = Y_k - a_k P B_{k+1} - B_{k+2}, with B_{K+1} = B_{K+2} = 0, a_0 = 1 and all other a_k = 2
func (n *chebNet) filtered(b *Builder, y *Node) *Node {
	d := y.Shape().Dimensions[1] / (n.order + 1)
	var terms []*Node // Y_{K-1} … Y_0, [1, n, d] each
	part := func(k int) *Node { return ExpandAxes(Slice(y, AxisRange(), AxisRange(k*d, (k+1)*d)), 0) }
	for k := range n.order {
		terms = append(terms, part(n.order-1-k))
	}
	last := part(n.order)
	x := solve.Scan(n.step, Concatenate([]*Node{last, ZerosLike(last)}, 0), Concatenate(terms, 0), b.Matrix(n.matrix),
		n.order)
	return half(x, 0)
}

// step l computes B_k for k = K - 1 - l, given Y_k and the stack x, [2, n, d], of B_{k+1} and B_{k+2}. It returns the
// stack of B_k and B_{k+1}.
func (n *chebNet) step(l, x, term *Node, p sparse.Operator) *Node {
	last := ConvertDType(Equal(l, loop.Int(l.Graph(), n.order-1)), x.DType())
	product := loop.Scale(p.Product(half(x, 0)), Sub(loop.Float(x, 2), last))
	return Stack([]*Node{Sub(Sub(term, product), half(x, 1)), half(x, 0)}, 0)
}

// half is x[i], [n, d], for x, [2, n, d].
func half(x *Node, i int) *Node { return Reshape(Slice(x, AxisElem(i)), x.Shape().Dimensions[1:]...) }
