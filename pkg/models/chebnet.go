package models

import (
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "chebnet", Title: "ChebNet",
		Layer:     "Σ_k T_k(L − I) X W_k + b, T_k Chebyshev polynomials; two layers",
		Reference: "Defferrard et al., NeurIPS 2016, as in He et al., NeurIPS 2021",
		Shared:    []string{"hidden", "dropout"},
		Own:       polynomial{1},
		Defaults:  func(c *Config) { c.Hidden, c.Dropout = 32, 0.5 }, Depth: filterDepth,
		New: func(c Config) Network { return &chebNet{order: OwnOf[polynomial](c).Order} }})
}

// chebNet is ChebNet (Defferrard, Bresson and Vandergheynst, NeurIPS 2016). It has two layers, which multiply features
// by Chebyshev polynomials T_k of the Laplacian L. Each polynomial has a weight matrix of its own. The network is that
// of He et al. (NeurIPS 2021), and the parameters have the names of PyTorch Geometric's ChebConv:
//
//	H      = dropout(ReLU(Σ_{k=0..K} T_k(L - I) X W1_k^T + b1))    features X [n, features], H [n, d]
//	logits = Σ_{k=0..K} T_k(L - I) H W2_k^T + b2                   [n, outputs]
//
// L = I - D^-1/2 A D^-1/2 has eigenvalues between 0 and 2. Chebyshev polynomials require eigenvalues within ±1.
// Therefore the layers use L - I, as ChebConv does.
//
// A weight W1_k or W2_k, [out, in], starts with uniform random numbers in ±sqrt(6/(in + out)) (Glorot and Bengio 2010).
// The biases b1 and b2 start at 0. The defaults are those of He et al. (and Chien et al., ICLR 2021): width 32, K = 1,
// and dropout 0.5, which acts on H and not on X. (ChebConv's own argument K is the number of weights of a layer, which
// is K + 1 = 2 here.)
//
// In the following, T_k stands for T_k(L - I). If the node features X are dense, Prepare computes all T_k X once, and
// the first layer multiplies them by the weights W1_k. If X is sparse, this would take too much memory, since T_k X is
// not sparse. Sparse X is therefore multiplied by the weights first, and the narrower results Y_k = X W1_k^T are
// multiplied by T_k. The second layer does the same with H: T_k H cannot be computed once, since H changes in every
// training step. [chebNet.filtered] computes the sum Σ_k T_k Y_k.
type chebNet struct {
	order  int
	matrix *sparse.Matrix
	// before are the arrays T_1 X … T_K X, which Prepare computes for dense features.
	before []*tensors.Tensor
}

// Prepare makes the sparse matrix P = D^-1/2 A D^-1/2 = I - L, [n, n]. If the node features X are dense, it also
// computes the arrays T_1 X … T_K X of [chebNet].
func (n *chebNet) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	p := sparse.Adjacency(g).SymmetricNormalised()
	if n.matrix, err = sparse.NewMatrix(p, nil); err != nil {
		return nil, nil, err
	}
	if _, is := Sparse(g); !is {
		before, now := []float32(nil), g.Features
		for k := range n.order {
			before, now = now, chebyshevStep(p, before, now, g.NumFeatures, k)
			x := sparse.Permute(n.matrix.Order(), now, g.NumFeatures)
			n.before = append(n.before, tensors.FromFlatDataAndDimensions(x, g.NumNodes, g.NumFeatures))
		}
	}
	return n.matrix.Order(), slices.Concat(n.before, n.matrix.Tensors()), nil
}

// chebyshevStep returns T_{k+1}(-P) x, where T_k is the k-th Chebyshev polynomial:
//
//	T_{k+1}(-P) x = -2 P T_k(-P) x - T_{k-1}(-P) x for k > 0,  T_1(-P) x = -P x
//
// The argument p is P, and now is T_k(-P) x. The argument before is T_{k-1}(-P) x, and is not read for k = 0. The
// argument columns is the number of columns of x.
func chebyshevStep(p *sparse.CSR, before, now []float32, columns, k int) []float32 {
	out := p.Product(now, columns)
	for i, v := range out {
		out[i] = -v
		if k > 0 {
			out[i] = -2*v - before[i]
		}
	}
	return out
}

// Build implements [Network]. The representation is H of [chebNet], the hidden features.
func (n *chebNet) Build(b *Builder) Output {
	w, bias := n.weights(b, "conv1", b.Features, b.Config.Hidden)
	var x *Node
	if n.before != nil {
		x = b.Model.features.times(w[0], b.features)
		for k, filtered := range n.before {
			x = Add(x, Dot(b.Array(filtered), Transpose(w[k+1], 0, 1)).Product())
		}
	} else {
		x = n.filtered(b, b.Model.features.times(Concatenate(w, 0), b.features))
	}
	x = Add(x, bias)
	h := b.Dropout(Max(x, ZerosLike(x)))
	w, bias = n.weights(b, "conv2", b.Config.Hidden, b.Outputs)
	y := n.filtered(b, Dot(h, Transpose(Concatenate(w, 0), 0, 1)).Product())
	return Output{Logits: Add(y, bias), Representation: h}
}

// weights declares the parameters of a layer of [chebNet]. It returns the weights W_0 … W_K, [out, in] each, and the
// bias, [1, out]. The argument name is the name of the layer, "conv1" or "conv2".
func (n *chebNet) weights(b *Builder, name string, in, out int) (w []*Node, bias *Node) {
	limit := math.Sqrt(6 / float64(in+out))
	for k := range n.order + 1 {
		name := fmt.Sprintf("%s.lins.%d.weight", name, k)
		w = append(w, b.Param(Param{Name: name, Shape: []int{out, in}, Limit: limit}))
	}
	return w, Reshape(b.Param(Param{Name: name + ".bias", Shape: []int{out}}), 1, out)
}

// filtered returns Σ_k T_k(-P) Y_k, [n, d], with the Chebyshev polynomials T_k and the matrix P of [chebNet.Prepare].
// The argument y holds Y_0 … Y_K side by side, each with d columns. The scheme of Clenshaw (1955) computes this sum
// without computing the polynomials. It is a recursion from k = K down to k = 0, whose last result B_0 is the sum:
//
//	B_k = Y_k - a_k P B_{k+1} - B_{k+2}, with B_{K+1} = B_{K+2} = 0, a_0 = 1 and all other a_k = 2
//
// For k = K, this is B_K = Y_K. The other K steps are a loop that is compiled once (see [solve.ScanVJP]).
func (n *chebNet) filtered(b *Builder, y *Node) *Node {
	d := y.Shape().Dimensions[1] / (n.order + 1)
	var terms []*Node // Y_{K-1} … Y_0, [1, n, d] each
	part := func(k int) *Node { return ExpandAxes(Slice(y, AxisRange(), AxisRange(k*d, (k+1)*d)), 0) }
	for k := range n.order {
		terms = append(terms, part(n.order-1-k))
	}
	last := part(n.order)
	x := solve.ScanVJP(n.step, n.pull, Concatenate([]*Node{last, ZerosLike(last)}, 0),
		Concatenate(terms, 0), b.Matrix(n.matrix), n.order)
	return half(x, 0)
}

// step is step number l of the loop in [chebNet.filtered]. It computes B_k for k = K - 1 - l. The argument x,
// [2, n, d], is the stack of B_{k+1} and B_{k+2}. The result is the stack of B_k and B_{k+1}. own[0] is Y_k, and shared
// holds the arrays of the matrix P. The method pull is the vector-Jacobian product of step.
func (n *chebNet) step(l, x, term *Node, p sparse.Operator) *Node {
	next := Sub(Sub(term, n.product(l, half(x, 0), p)), half(x, 1))
	return Stack([]*Node{next, half(x, 0)}, 0)
}

func (n *chebNet) pull(l, _, v, _ *Node, p sparse.Operator) (dx, dTerm *Node, _ sparse.Operator) {
	now := half(v, 0)
	return Stack([]*Node{Sub(half(v, 1), n.product(l, now, p)), Neg(now)}, 0), now, sparse.Operator{}
}

// product returns a_k P x for step number l of the loop in [chebNet.filtered], where k = K - 1 - l. The number a_k is 1
// for k = 0, and 2 for all other k. The last argument holds the arrays of the matrix P.
func (n *chebNet) product(l, x *Node, p sparse.Operator) *Node {
	last := ConvertDType(Equal(l, loop.Int(l.Graph(), n.order-1)), x.DType())
	return loop.Scale(p.Product(x), Sub(loop.Float(x, 2), last))
}

// half returns x[i], [n, d], for x, [2, n, d].
func half(x *Node, i int) *Node { return Reshape(Slice(x, AxisElem(i)), x.Shape().Dimensions[1:]...) }
