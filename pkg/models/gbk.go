package models

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "gbk-gnn", Title: "GBK-GNN",
		Layer: "ReLU(W_f x_i + mean over neighbours of α_ij W_s x_j + (1-α_ij) W_d x_j + b), " +
			"α_ij = σ(W_g [x_i, x_j] + c)",
		Reference:         "Du et al., WWW 2022",
		Shared:            []string{"forward", "hidden", "dropout"},
		Own:               gbkSettings{Lambda: 1.84},
		LossStaysPositive: true, // the loss of the gates does
		Defaults:          func(c *Config) { c.Forward, c.Hidden, c.Dropout = 2, 64, 0.5 },
		Check: func(c Config) error {
			if c.Forward < 2 {
				return fmt.Errorf("forward is %d: gbk-gnn needs 2 at least, "+
					"since its first layer reads the features and its last one writes the logits", c.Forward)
			}
			return nil
		},
		New: func(Config) Network { return &gbk{} }})
}

type gbkSettings struct {
	Lambda float64 `help:"weight of the loss that teaches gates whether an edge joins nodes of one class" most:"1e6"`
}

// gbk is GBK-GNN (Du et al., "GBK-GNN: Gated Bi-Kernel Graph Neural Networks for Modeling Both Homophily and
// Heterophily", WWW 2022), with a linear map W_s for neighbours of the same class, and W_d for others. X_0 are the node
// features, X_L the logits, [n, outputs], and all other X_l are [n, d]:
//
//	X_{l+1} = ReLU(X_l W_f^T + M + b)                              without ReLU in the last layer
//	M_i     = 1/|N(i)| Σ_{j ∈ N(i)} (α_ij W_s x_j + (1 - α_ij) W_d x_j)
//	α_ij    = σ(s_ij),  s_ij = W_g [x_i, x_j] + c                  W_g: [1, 2 width of X_l]
//	loss    = cross-entropy + λ Σ_l mean of BCE(α_ij, [y_i = y_j])  over edges that join training nodes
//
// x_i is row i of X_l, N(i) are i's neighbours without i, and M_i = 0 without neighbours. BCE is the binary
// cross-entropy, [y_i = y_j] is 1 for nodes of one class, else 0. Dropout acts on all X_l except X_0 and X_L.
//
// This is the publication. In the authors' code, https://github.com/Xzh0u/GBK-GNN, the second kernel reads x_i, each
// kernel gives half the width, side by side, LeakyReLU is applied to s_ij, and the loss of the gates is the
// cross-entropy of the softmax of [1-α, α], with the target whether one of an edge's two nodes is of class 0. Its
// defaults are L = 2, width 16, dropout 0.5 and λ = 1.84 (30 for Cora, CiteSeer, Texas and Cornell).
type gbk struct {
	pattern   *sparse.Pattern
	adjacency *sparse.Matrix
	degrees   *tensors.Tensor
}

func (n *gbk) Prepare(g *graphs.Graph, arrays *Arrays) {
	a := sparse.Adjacency(g)
	n.pattern = arrays.Pattern(a, sparse.PatternOptions{Uses: sparse.ForLoopAttention})
	n.adjacency = arrays.Matrix(a)
	n.degrees = arrays.ByDegree(a, func(d float64) float64 { return d })
}

// Build implements [Network]. The representation, [n, d], is what the last layer reads.
func (n *gbk) Build(b *Builder) (out Output) {
	c := b.Config
	edges := edgeGates{b.Edges(n.pattern).Bare(), b.Matrix(n.adjacency), b.Array(n.degrees)}
	teach, losses := edges.teacher(b.Known()), []*Node(nil)
	var x *Node
	for l := range c.Forward {
		width := c.Hidden
		if l == c.Forward-1 {
			width = b.Outputs
		}
		next, g := edges.layer(b, fmt.Sprintf("conv%d.", l+1), x, width)
		losses = append(losses, Reshape(teach(g), 1))
		out.Representation = x
		if x = next; l < c.Forward-1 {
			x = b.Dropout(relu(x))
		}
	}
	out.Logits = x
	out.Penalty = MulScalar(ReduceAllSum(Concatenate(losses, 0)), OwnOf[gbkSettings](c).Lambda)
	return out
}

// layer returns a layer's result before its activation, and its gate. A nil x stands for the node features. M is
//
//	M = D^-1 (A X W_d^T + α X (W_s - W_d)^T)
//
// of which only the second sum over neighbours has weights that the model computes, α, [n, n].
func (e edgeGates) layer(b *Builder, name string, x *Node, width int) (y *Node, g edgeGate) {
	if f := b.Model.features; x == nil && b.Features < width && f.sparse == nil && f.pattern == nil {
		x = b.features[0] // narrow dense features are summed before the linear map
	}
	in := b.Features
	if x != nil {
		in = x.Shape().Dimensions[1]
	}
	weight := func(part string, out, in int) *Node { return b.glorot(name+part, in, out, out, in) }
	root, other := weight("lin_r.weight", width, in), weight("lin_n.weight", width, in) // W_f and W_d
	difference := Sub(weight("lin_p.weight", width, in), other)
	maps := []*Node{Reshape(weight("gate.weight", 1, 2*in), 2, in), root}
	narrow := x != nil && in < width // if so, sums over neighbours precede the linear map, since x has fewer columns
	if !narrow {
		maps = append(maps, other, difference)
	}
	all := b.mapped(x, Concatenate(maps, 0))
	columns := func(from, count int) *Node { return Slice(all, AxisRange(), AxisRange(from, from+count)) }
	shift := b.Param(Param{Name: name + "gate.bias", Shape: []int{1}})
	g = edgeGate{Add(columns(0, 1), ExpandLeftToRank(shift, 2)), columns(1, 1)}
	var mean *Node
	if narrow {
		sums := Concatenate([]*Node{e.sum.Product(x), e.gated(g, x)}, 1)
		mean = b.mapped(e.mean(sums), Concatenate([]*Node{other, difference}, 1))
	} else {
		mean = e.mean(Add(e.sum.Product(columns(width+2, width)), e.gated(g, columns(2*width+2, width))))
	}
	bias := b.Param(Param{Name: name + "bias", Shape: []int{width}})
	return Add(Add(columns(2, width), mean), ExpandLeftToRank(bias, 2)), g
}

// edgeGates computes gates α_ij = σ(s_ij) of edges, with scores s_ij = target_i + source_j ([edgeGate]); both are
// [places, 1]. Sums y_i = Σ_j α_ij x_j have a cheap derivative: if v_i is the cotangent of y_i, that of target_i is
// v_i · (Σ_j α'_ij x_j), one inner product per node, and none per edge.
type edgeGates struct {
	edges  sparse.BareEdges
	sum    sparse.Operator // the adjacency
	degree *Node           // [n, 1]
}

// edgeGate has the terms of the scores, [n, 1] each.
type edgeGate struct{ target, source *Node }

// turned is the gate of the reversed edges. fixed is g without gradients.
func (g edgeGate) turned() edgeGate { return edgeGate{g.source, g.target} }
func (g edgeGate) fixed() edgeGate  { return edgeGate{StopGradient(g.target), StopGradient(g.source)} }
func (g edgeGate) nodes() []*Node   { return []*Node{g.target, g.source} }

func (e edgeGates) scores(g edgeGate) *Node {
	return Add(e.edges.Targets(g.target), e.edges.Sources(g.source))
}

// open are the gates, 0 for padding.
func (e edgeGates) open(g edgeGate) *Node { return e.edges.Mask(Sigmoid(e.scores(g))) }

// gated is Σ_j α_ij x_j, [n, d], with a derivative by hand.
func (e edgeGates) gated(g edgeGate, x *Node) *Node {
	// sums are Σ_j α_ij x_j and Σ_j α'_ij x_j with α' = α (1 - α).
	sums := func(g edgeGate, x *Node) []*Node {
		alpha := e.open(g)
		return e.edges.Products([]*Node{x, x}, []*Node{alpha, Mul(alpha, OneMinus(alpha))})
	}
	fixed, values := g.fixed(), StopGradient(x)
	y := sums(fixed, values)
	return loop.Custom(y[0], append(g.nodes(), x), func(v *Node) []*Node {
		back := sums(fixed.turned(), v)
		return []*Node{sumOfColumns(Mul(v, y[1])), sumOfColumns(Mul(values, back[1])), back[0]}
	})
}

// mean divides sums over neighbours, [n, d], by the number of neighbours.
func (e edgeGates) mean(sums *Node) *Node { return Div(sums, MaxScalar(e.degree, 1)) }

// teacher returns the loss of a gate, the mean over all edges between training nodes of
//
//	BCE(σ(s_ij), t_ij) = softplus(s_ij) - t_ij s_ij,  t_ij = known_i · known_j,
//
// where known has the labels of training nodes as one-hot rows, and other rows are zero. As t_ij = t_ji, the sum of
// t_ij s_ij over the edges is Σ_i t_i (target_i + source_i) with t_i = Σ_j t_ij.
func (e edgeGates) teacher(known *Node) func(g edgeGate) *Node {
	is := sumOfColumns(known)
	near := e.sum.Product(known)
	equal := sumOfColumns(Mul(known, near))
	edges := MaxScalar(ReduceAllSum(Mul(is, sumOfColumns(near))), 1)
	return func(g edgeGate) *Node {
		of := ReduceAllSum(Mul(equal, Add(g.target, g.source)))
		return Div(Sub(e.softplus(g, is), of), edges)
	}
}

// softplus is the sum of k_i k_j softplus(s_ij) over all edges; k, [n, 1], is 1 for training nodes, else 0.
func (e edgeGates) softplus(g edgeGate, k *Node) *Node {
	fixed, source := g.fixed(), e.edges.Sources(k)
	s := e.scores(fixed)
	softplus := layers.ActivationSoftplus.Of(s)
	y := ReduceAllSum(Mul(e.edges.Mask(softplus), Mul(e.edges.Targets(k), source)))
	return loop.Custom(y, g.nodes(), func(v *Node) []*Node {
		pull := func(g edgeGate) *Node { // v k_i Σ_j α_ij k_j, the cotangent of g.target
			return Mul(v, Mul(k, e.edges.Sum(Mul(e.open(g), source))))
		}
		return []*Node{pull(fixed), pull(fixed.turned())}
	})
}

// sumOfColumns is [n, 1] for x, [n, d].
func sumOfColumns(x *Node) *Node { return ReduceAndKeep(x, ReduceSum, 1) }
