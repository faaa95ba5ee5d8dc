package models

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "fagcn", Title: "FAGCN",
		Layer:     "ε X_0 + Σ_j tanh(x_j·l + x_i·r) / sqrt(d_i d_j) x_j over neighbours j",
		Reference: "Bo et al., AAAI 2021",
		Shared:    []string{"forward", "hidden", "dropout"},
		Own:       fagcnSettings{Eps: 0.3},
		Defaults:  func(c *Config) { c.Forward, c.Hidden, c.Dropout = 2, 64, 0.5 },
		New:       func(Config) Network { return &fagcn{} }})
}

type fagcnSettings struct {
	Eps float64 `help:"share of the encoded features in every layer" most:"1"`
}

// fagcn is FAGCN (Bo et al., "Beyond low-frequency information in graph convolutional networks", AAAI 2021):
//
//	X_0     = dropout(ReLU(F W_1^T + b_1))                         features F [n, m], X_l [n, d]
//	α_ij    = tanh(x_j·l + x_i·r)                                  for neighbours j of i; l and r, [d], differ by layer
//	x_i'    = ε x_0i + Σ_j dropout(α_ij / sqrt(d_i d_j)) x_j       d_i the number of i's neighbours
//	logits  = X_L W_2^T + b_2
//
// x_i and x_i' are rows of a layer's input and result, x_0i one of X_0. There are no self loops.
//
// The publication has one vector g = [r, l]. Here, l and r have the names of PyTorch Geometric's FAConv (which adds
// self loops by default) and start as there. The linear maps have the names of the authors' code,
// https://github.com/bdy9527/FAGCN. Dropout of α and the defaults are from this code, except for the width, 32 there.
// The code also adds a bias inside tanh, drops node features, and draws initial weights from normal distributions
// (those of Glorot and Bengio, times 1.414).
type fagcn struct {
	pattern *sparse.Pattern
	root    *tensors.Tensor // 1/sqrt(d_i), [n, 1]
}

func (f *fagcn) Prepare(g *graphs.Graph, arrays *Arrays) {
	a := sparse.Adjacency(g)
	f.pattern = arrays.Pattern(a, sparse.PatternOptions{Uses: sparse.ForGradients | sparse.ForLoopAttention})
	root := make([]float32, g.NumNodes)
	for i, d := range a.Degrees() {
		root[i] = float32(1 / math.Sqrt(float64(max(1, d))))
	}
	f.root = arrays.Rows(root, 1)
}

// Build implements [Network]. The representation is X_L. The layers are compiled once.
func (f *fagcn) Build(b *Builder) Output {
	c := b.Config
	x := b.Encode("t1", c.Hidden)
	x = b.Dropout(Max(x, ZerosLike(x)))
	layer := faLayer{eps: OwnOf[fagcnSettings](c).Eps}
	shared := faShared{First: x, Constants: faConstants{root: b.Array(f.root), edges: b.Edges(f.pattern).Bare()}}
	if c.Dropout > 0 && b.Random() {
		layer.dropout, shared.Constants.seed = c.Dropout, b.seed()
	}
	var scores []*Node
	for l := range c.Forward {
		part := func(name string) *Node {
			name = fmt.Sprintf("layers.%d.%s.weight", l, name)
			w := b.Param(Param{Name: name, Shape: []int{1, c.Hidden}, Limit: 1 / math.Sqrt(float64(c.Hidden))})
			return Reshape(w, 1, c.Hidden, 1)
		}
		scores = append(scores, Concatenate([]*Node{part("att_l"), part("att_r")}, 2))
	}
	if c.Forward > 0 {
		x = solve.Scan(layer.step, x, Concatenate(scores, 0), shared, c.Forward)
	}
	return Output{Logits: b.Linear("t2", x, b.Outputs), Representation: x}
}

// faLayer is a layer of [fagcn] for [solve.Scan].
type faLayer struct{ eps, dropout float64 }

// faShared is what all layers read: X_0 and, without gradients, 1/sqrt(d_i), the edges and, with dropout, the seed.
type faShared struct {
	First     *Node
	Constants faConstants
}

type faConstants struct {
	root  *Node
	edges sparse.BareEdges
	seed  *Node
}

func (faConstants) Fixed() {}

// step is layer number l, for its input x. The columns of own, [d, 2], are the vectors l and r of the formula.
func (f faLayer) step(l, x, own *Node, shared faShared) *Node {
	scores := Dot(x, own).Product()
	left, right := Slice(scores, AxisRange(), AxisElem(0)), Slice(scores, AxisRange(), AxisElem(1))
	root := shared.Constants.root
	sum := f.sum(shared.Constants.edges, left, right, scaledRows(x, root), f.mask(l, x, shared.Constants))
	return Add(loop.Scale(shared.First, loop.Float(x, f.eps)), scaledRows(sum, root))
}

// mask has the factors of the α_ij in dropout, [places, 1]: 0 for padding and dropped edges, else 1/(1-p).
func (f faLayer) mask(l, x *Node, c faConstants) *Node {
	mask := ConvertDType(c.edges.Stored(), x.DType())
	if f.dropout == 0 {
		return mask
	}
	places := c.edges.Places()
	number := Iota(x.Graph(), shapes.Make(dtypes.Uint32, places, 1), 0)
	first := Mul(ConvertDType(l, dtypes.Uint32), loop.Const(x.Graph(), uint32(places)))
	keep := kept(Add(number, loop.Like(first, number)), c.seed, f.dropout)
	return Where(keep, loop.Scale(mask, loop.Float(x, 1/(1-f.dropout))), loop.Zeros(mask))
}

// sum is Σ_j m_ij α_ij y_j, [n, d], for α_ij = tanh(left_j + right_i) and the mask m; left and right are [n, 1].
//
// Let u_i be the cotangent of the sum, and s_ij = m_ij (1 - α_ij²). left_j has the cotangent (Σ_i s_ij u_i)·y_j, and
// right_i has u_i·(Σ_j s_ij y_j): sums over neighbours and one inner product per node, none per edge. The graph is
// undirected, so that the sums over i are computed as sums over j with α_ji.
func (f faLayer) sum(e sparse.BareEdges, left, right, y, mask *Node) *Node {
	inputs := []*Node{left, right, y}
	left, right, y = StopGradient(left), StopGradient(right), StopGradient(y)
	slope := func(alpha, mask *Node) *Node {
		return Mul(mask, Sub(loop.Like(loop.Float(y, 1), alpha), Mul(alpha, alpha)))
	}
	alpha := Tanh(Add(e.Sources(left), e.Targets(right)))
	return loop.Custom(e.Product(Mul(alpha, mask), y), inputs, func(u *Node) []*Node {
		back, backMask := Tanh(Add(e.Sources(right), e.Targets(left))), mask // back is α_ji
		if f.dropout > 0 {
			backMask = e.Transpose(mask)
		}
		sums := e.Products([]*Node{u, u}, []*Node{Mul(back, backMask), slope(back, backMask)})
		return []*Node{rowDots(sums[1], y), rowDots(u, e.Product(slope(alpha, mask), y)), sums[0]}
	})
}

// scaledRows multiplies the rows of x, [n, d], by the numbers of by, [n, 1].
func scaledRows(x, by *Node) *Node { return Mul(x, BroadcastToShape(by, x.Shape())) }

// rowDots are the inner products of rows of a and b, [n, d]: [n, 1].
func rowDots(a, b *Node) *Node {
	return Dot(Mul(a, b), BroadcastToDims(loop.Float(a, 1), a.Shape().Dimensions[1], 1)).Product()
}
