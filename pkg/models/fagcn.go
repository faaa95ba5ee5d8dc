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
	f.root = arrays.ByDegree(a, func(d float64) float64 { return 1 / math.Sqrt(max(1, d)) })
}

// Build implements [Network]. The representation is X_L. The layers are compiled once.
func (f *fagcn) Build(b *Builder) Output {
	c := b.Config
	x := b.Encode("t1", c.Hidden)
	x = b.Dropout(relu(x))
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
		x = solve.ScanVJP(layer.step, layer.pull, x, Concatenate(scores, 0), shared, c.Forward)
	}
	return Output{Logits: b.Linear("t2", x, b.Outputs), Representation: x}
}

// faLayer computes a layer of [fagcn] and its derivative, for [solve.ScanVJP], which is faster than GoMLX's. own, [d,
// 2], has the vectors l and r of the layer as columns.
//
// Let v_i be the cotangent of x_i', u_i = v_i / sqrt(d_i), y_j = x_j / sqrt(d_j), and s_ij = 1 - α_ij². x_j·l has the
// cotangent (Σ_i s_ij u_i)·y_j, and x_i·r has u_i·(Σ_j s_ij y_j): sums over neighbours and one inner product per node,
// none per edge. x_j also needs Σ_i α_ij u_i. The graph is undirected, so that the sums over i are computed as sums
// over j with α_ji.
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

// faEdges are the edges of a layer: y has the rows y_j, alpha the α_ij, [places, 1], and mask, [places, 1], the factors
// of dropout: 0 for padding and dropped edges, else 1/(1-p).
type faEdges struct {
	sparse.BareEdges
	y, alpha, mask *Node
}

// edges also returns the terms of the argument of tanh, [n, 1]: x_j·l and x_i·r.
func (f faLayer) edges(l, x, own *Node, c faConstants) (e faEdges, left, right *Node) {
	e = faEdges{BareEdges: c.edges, y: scaledRows(x, c.root)}
	scores := Dot(x, own).Product()
	left, right = Slice(scores, AxisRange(), AxisElem(0)), Slice(scores, AxisRange(), AxisElem(1))
	e.alpha = Tanh(Add(e.Sources(left), e.Targets(right)))
	e.mask = ConvertDType(e.Stored(), x.DType())
	if f.dropout > 0 {
		places := c.edges.Places()
		number := Iota(x.Graph(), shapes.Make(dtypes.Uint32, places, 1), 0)
		first := Mul(ConvertDType(l, dtypes.Uint32), loop.Const(x.Graph(), uint32(places)))
		keep := kept(Add(number, loop.Like(first, number)), c.seed, f.dropout)
		e.mask = Where(keep, loop.Scale(e.mask, loop.Float(x, 1/(1-f.dropout))), loop.Zeros(e.mask))
	}
	return e, left, right
}

// scaledRows multiplies the rows of x, [n, d], by the numbers of by, [n, 1].
func scaledRows(x, by *Node) *Node { return Mul(x, BroadcastToShape(by, x.Shape())) }

// step is layer number l, for its input x.
func (f faLayer) step(l, x, own *Node, shared faShared) *Node {
	e, _, _ := f.edges(l, x, own, shared.Constants)
	sum := e.Product(Mul(e.alpha, e.mask), e.y)
	return Add(loop.Scale(shared.First, loop.Float(x, f.eps)), scaledRows(sum, shared.Constants.root))
}

// pull has the cotangents of x, own and shared, given that of the result of step.
func (f faLayer) pull(l, x, v, own *Node, shared faShared) (dx, dOwn *Node, dShared faShared) {
	e, left, right := f.edges(l, x, own, shared.Constants)
	root := shared.Constants.root
	u := scaledRows(v, root)
	back, backMask := Tanh(Add(e.Sources(right), e.Targets(left))), e.mask // back is α_ji
	if f.dropout > 0 {
		backMask = e.Transpose(e.mask)
	}
	slope := func(alpha, mask *Node) *Node {
		return Mul(mask, Sub(loop.Like(loop.Float(x, 1), alpha), Mul(alpha, alpha)))
	}
	sums := e.Products([]*Node{u, u}, []*Node{Mul(back, backMask), slope(back, backMask)})
	dLeft, dRight := loop.RowDots(sums[1], e.y), loop.RowDots(u, e.Product(slope(e.alpha, e.mask), e.y))
	scores := Concatenate([]*Node{dLeft, dRight}, 1)
	dx = Add(scaledRows(sums[0], root), Dot(scores, Transpose(own, 0, 1)).Product())
	dShared.First = loop.Scale(v, loop.Float(v, f.eps))
	return dx, Dot(Transpose(x, 0, 1), scores).Product(), dShared
}
