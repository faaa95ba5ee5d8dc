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
		Own: OwnSettings(fagcnSettings{Eps: 0.3}, func(s *fagcnSettings) []Setting {
			return []Setting{{Name: "eps", Value: &s.Eps, Most: 1,
				Help: "share of the encoded features in every layer"}}
		}),
		Defaults: func(c *Config) { c.Forward, c.Hidden, c.Dropout = 2, 64, 0.5 },
		New:      func(Config) Network { return &fagcn{} }})
}

// fagcnSettings are FAGCN's own settings: ε, the share of the encoded features in every layer.
type fagcnSettings struct{ Eps float64 }

// fagcn is FAGCN (Bo et al., "Beyond low-frequency information in graph convolutional networks", AAAI 2021):
//
//	X_0     = dropout(ReLU(F W_1^T + b_1))                         features F [n, m], X_l [n, d]
//	α_ij    = tanh(x_j·l + x_i·r)                                  for neighbours j of i; l and r, [d], differ by layer
//	x_i'    = ε x_0i + Σ_j dropout(α_ij / sqrt(d_i d_j)) x_j       d_i the number of i's neighbours
//	logits  = X_L W_2^T + b_2
//
// x_i is row i of a layer's input, x_i' row i of its result, and x_0i row i of X_0. There are no self loops. The
// publication has one vector g = [r, l]. Here l and r are two parameters, with the names that they have in PyTorch
// Geometric's FAConv. (FAConv adds self loops by default.) The linear maps have the names of the authors' code,
// https://github.com/bdy9527/FAGCN. That code also adds a bias to the scores, and drops entries of the features. It
// draws initial weights from normal distributions (Glorot and Bengio's, times 1.414). Here initial weights are those of
// PyTorch Geometric. The defaults are those of the code, except for d, which is 32 there. The dropout of α_ij is from
// the code; the publication's formula does not have it.
//
// All layers are computed in one loop, which is compiled once and has a derivative written by hand: see [faLayer].
type fagcn struct{ pattern *sparse.Pattern }

// Prepare makes the pattern of the edges, and the array of all 1/sqrt(d_i), [n, 1], where d_i is the number of node i's
// neighbours.
func (f *fagcn) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	a := sparse.Adjacency(g)
	o := sparse.PatternOptions{Uses: sparse.ForGradients | sparse.ForLoopAttention}
	if f.pattern, err = sparse.NewPattern(a, o); err != nil {
		return nil, nil, err
	}
	order = f.pattern.Order()
	root := make([]float32, g.NumNodes)
	for i, d := range a.Degrees() {
		root[i] = float32(1 / math.Sqrt(float64(max(1, d))))
	}
	root = sparse.Permute(order, root, 1)
	return order, append([]*tensors.Tensor{tensors.FromFlatDataAndDimensions(root, g.NumNodes, 1)},
		f.pattern.Tensors()...), nil
}

// Build implements [Network]. The representation is the result of the last layer.
func (f *fagcn) Build(b *Builder) Output {
	c := b.Config
	x := b.Encode("t1", c.Hidden)
	x = b.Dropout(Max(x, ZerosLike(x)))
	layer, seed := faLayer{pattern: f.pattern, eps: OwnOf[fagcnSettings](c).Eps}, (*Node)(nil)
	if c.Dropout > 0 && b.Random() {
		layer.dropout, seed = c.Dropout, b.seed()
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
		own, shared := []*Node{Concatenate(scores, 0)}, layer.shared(x, b.Arrays, seed)
		x = solve.ScanVJP(layer.step, layer.pull, x, own, shared, c.Forward)
	}
	return Output{Logits: b.Linear("t2", x, b.Outputs), Representation: x}
}

// faLayer is a layer of [fagcn] and its derivative, as [solve.ScanVJP] takes them: the methods step and pull. In their
// arguments, own holds the layer's weights [l, r], [d, 2]. shared holds what all layers read: X_0, the numbers
// 1/sqrt(d_i), the pattern's arrays and, with dropout, the seed of the random draws.
//
// pull uses these formulas, in the symbols of [fagcn]. Let v_i be the cotangent of x_i', u_i = v_i / sqrt(d_i), y_j =
// x_j / sqrt(d_j), and s_ij = 1 - α_ij² the derivative of tanh. The score of edge (i, j) is x_j·l + x_i·r, and its
// cotangent is s_ij u_i·y_j. The cotangent of x_j·l is the sum of these cotangents over i, which is (Σ_i s_ij u_i)·y_j.
// The cotangent of x_i·r is the sum of them over j, which is u_i·(Σ_j s_ij y_j). So for each node, a sum over
// neighbours and one inner product are enough. No inner product has to be computed for each edge. The cotangent of x_j
// also needs the sum Σ_i α_ij u_i.
//
// In these formulas, a sum over i is over the neighbours of a node j. Package sparse computes sums over the neighbours
// j of a node i. Since the graph is undirected, i and j may be exchanged: α_ji then takes the place of α_ij. Dropout
// multiplies each α_ij and s_ij by the mask of [faEdges].
type faLayer struct {
	pattern      *sparse.Pattern
	eps, dropout float64
}

// shared returns the list of arrays that all layers read. These are X_0 of [fagcn] (the argument first), the arrays
// that Prepare returned and, with dropout, the seed of the random draws.
func (f faLayer) shared(first *Node, arrays []*Node, seed *Node) []*Node {
	out := append([]*Node{first}, forScan(arrays)...)
	if f.dropout > 0 {
		out = append(out, seed)
	}
	return out
}

// forScan prepares a network's arrays for [solve.ScanVJP], which computes a cotangent for every floating-point array.
// The first array is not changed. All others belong to a sparse matrix or a pattern. Those of them that are floating
// point hold 1 for edges and 0 for padding. forScan converts them to integers, for which there are no cotangents.
func forScan(arrays []*Node) []*Node {
	out := []*Node{arrays[0]}
	for _, a := range arrays[1:] {
		if a.DType().IsFloat() {
			a = ConvertDType(a, dtypes.Uint8)
		}
		out = append(out, a)
	}
	return out
}

// faEdges are the edges of a layer, with the values that step and pull need. In the symbols of [fagcn], y has the rows
// x_j / sqrt(d_j), and alpha holds α_ij for every edge (i, j), [places, 1]. mask, [places, 1], is the factor by which
// dropout multiplies α_ij. It is 0 for padding and for dropped edges, and 1/(1-p) for all other edges, where p is the
// probability of dropout.
type faEdges struct {
	sparse.BareEdges
	y, alpha, mask *Node
}

// edges computes [faEdges] for one layer. The argument l is the index of the layer, and x is the layer's input X. edges
// also returns the two terms of the scores, [n, 1] each. left is X times the vector l of [fagcn], and right is X times
// the vector r.
func (f faLayer) edges(l, x *Node, own, shared []*Node) (e faEdges, left, right *Node) {
	arrays := shared[2:]
	if f.dropout > 0 {
		arrays = shared[2 : len(shared)-1]
	}
	e = faEdges{BareEdges: f.pattern.Bare(arrays), y: scaledRows(x, shared[1])}
	scores := Dot(x, own[0]).Product()
	left, right = Slice(scores, AxisRange(), AxisElem(0)), Slice(scores, AxisRange(), AxisElem(1))
	e.alpha = Tanh(Add(e.Sources(left), e.Targets(right)))
	e.mask = ConvertDType(e.Stored(), x.DType())
	if f.dropout > 0 {
		places := f.pattern.Places()
		number := Iota(x.Graph(), shapes.Make(dtypes.Uint32, places, 1), 0)
		first := Mul(ConvertDType(l, dtypes.Uint32), loop.Const(x.Graph(), uint32(places)))
		keep := kept(Add(number, loop.Like(first, number)), shared[len(shared)-1], f.dropout)
		e.mask = Where(keep, loop.Scale(e.mask, loop.Float(x, 1/(1-f.dropout))), loop.Zeros(e.mask))
	}
	return e, left, right
}

// scaledRows multiplies each row of x, [n, d], by the number in the same row of the second argument, [n, 1].
func scaledRows(x, by *Node) *Node { return Mul(x, BroadcastToShape(by, x.Shape())) }

// step returns the result of layer l for the input x.
func (f faLayer) step(l, x *Node, own, shared []*Node) *Node {
	e, _, _ := f.edges(l, x, own, shared)
	sum := e.Product(Mul(e.alpha, e.mask), e.y)
	return Add(loop.Scale(shared[0], loop.Float(x, f.eps)), scaledRows(sum, shared[1]))
}

// pull returns the cotangents of x, own and shared, given v, the cotangent of the result of step.
func (f faLayer) pull(l, x, v *Node, own, shared []*Node) (dx *Node, dOwn, dShared []*Node) {
	e, left, right := f.edges(l, x, own, shared)
	root, u := shared[1], scaledRows(v, shared[1])
	back, backMask := Tanh(Add(e.Sources(right), e.Targets(left))), e.mask // back is α_ji
	if f.dropout > 0 {
		backMask = e.Transpose(e.mask)
	}
	slope := func(alpha, mask *Node) *Node {
		return Mul(mask, Sub(loop.Like(loop.Float(x, 1), alpha), Mul(alpha, alpha)))
	}
	sums := e.Products([]*Node{u, u}, []*Node{Mul(back, backMask), slope(back, backMask)})
	dLeft, dRight := rowDots(sums[1], e.y), rowDots(u, e.Product(slope(e.alpha, e.mask), e.y))
	scores := Concatenate([]*Node{dLeft, dRight}, 1)
	dx = Add(scaledRows(sums[0], root), Dot(scores, Transpose(own[0], 0, 1)).Product())
	dShared = make([]*Node, len(shared))
	dShared[0], dShared[1] = loop.Scale(v, loop.Float(v, f.eps)), loop.Zeros(root)
	return dx, []*Node{Dot(Transpose(x, 0, 1), scores).Product()}, dShared
}

// rowDots returns the inner product of each row of a with the same row of b, [n, 1]. a and b are [n, d].
func rowDots(a, b *Node) *Node {
	return Dot(Mul(a, b), BroadcastToDims(loop.Float(a, 1), a.Shape().Dimensions[1], 1)).Product()
}
