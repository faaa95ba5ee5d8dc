package models

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "ordered-gnn", Title: "Ordered GNN",
		Layer: "LayerNorm(g X + (1-g) M), M = mean of neighbours' X, " +
			"g = SOFTOR(gate of the layer before, cumsum softmax W [X, M])",
		Reference: "Song et al., ICLR 2023",
		Shared:    []string{"forward", "hidden", "dropout"},
		Own:       orderedSettings{ChunkSize: 4, InputLayers: 1},
		// The defaults are from the authors' configurations for heterophilic graphs, except for the width and the
		// number of gates. The authors' width is 256, with 64 gates. Here the width is 64, with 16 gates.
		Defaults: func(c *Config) { c.Forward, c.Hidden, c.Dropout = 8, 64, 0.2 },
		Check: func(c Config) error {
			if size := OwnOf[orderedSettings](c).ChunkSize; c.Hidden%size != 0 {
				return fmt.Errorf("chunk-size is %d with a hidden width of %d: choose a divisor of the width",
					size, c.Hidden)
			}
			return nil
		},
		New: func(Config) Network { return &ordered{} }})
}

// orderedSettings are the settings that Ordered GNN has besides the shared settings. ChunkSize is the number of feature
// columns that share a gate, which is C in the formulas of [ordered]. InputLayers is the number of layers before
// message passing. If ShareGate is true, all message-passing layers compute their gates with the same weights.
type orderedSettings struct {
	ChunkSize   int  `help:"neurons that share a gate" least:"1" most:"16384"`
	InputLayers int  `help:"layers of the network before message passing" least:"1" most:"16"`
	ShareGate   bool `help:"use one gating network in all layers"`
}

// ordered is Ordered GNN (Song et al., "Ordered GNN: Ordering Message Passing to Deal with Heterophily and
// Over-smoothing", ICLR 2023). A column of the features X_l is called a neuron. Every node has gates g, which are
// numbers between 0 and 1. A group of C neurons shares one gate. In each layer, a neuron keeps the share g of its
// value, and takes the share 1 - g from M_l, the mean over the neighbours. From layer to layer, a gate can only grow. A
// neuron whose gate is near 1 keeps its value: it holds the messages of earlier layers, which come from nearer nodes.
// Later layers change only the other neurons.
//
//	X_0     = f(F)                                  [n, d]
//	M_l     = D^-1 A X_l                            [n, d], without self loops
//	ĝ_l     = cumsum(softmax([X_l, M_l] W^T + b))   [n, d/C], called "cumax" in the publication
//	g_{l+1} = g_l + (1 - g_l) ĝ_l,  g_0 = 0         [n, d/C], called "SOFTOR" in the publication
//	X_{l+1} = LayerNorm(g X_l + (1 - g) M_l)        g = g_{l+1} with each column repeated C times
//	logits  = X_L W^T + b                           [n, outputs]
//
// F are the node features. f is a network of one or several layers LayerNorm(ReLU(F W^T + b)), with dropout between the
// layers. A is the adjacency, and D holds the degrees. C is called the chunk size. Softmax and cumulative sum (cumsum)
// run along the rows. Every linear map has a weight W and a bias b of its own. The linear map that computes the gates
// has W [d/C, 2d]. A setting makes all layers share this map.
//
// Parameters have the names of the authors' code, https://github.com/LUMIA-Group/OrderedGNN. Like the authors' code,
// and unlike the publication's formulas, this network has both LayerNorms above. It also applies dropout to X_l, before
// each layer and before the last linear map. Unlike this network, the authors' code has two dropout probabilities (0 to
// 0.5 each), and applies dropout to the input features, too. In the authors' code, "chunk size" means the number of
// gates, d/C. The defaults of the authors' code are L = 8 layers, d = 256, 64 gates, and one or two layers in f.
type ordered struct{ mean *sparse.Matrix }

// Prepare lays out the matrix D^-1 A of [ordered], [n, n], with which the network takes means over neighbours.
func (o *ordered) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if o.mean, err = sparse.NewMatrix(sparse.Adjacency(g).RowNormalised(), nil); err != nil {
		return nil, nil, err
	}
	return o.mean.Order(), o.mean.Tensors(), nil
}

// Build implements [Network]. The representation, [n, d], is X_L of [ordered], the features after the last layer.
func (o *ordered) Build(b *Builder) Output {
	own, mean := OwnOf[orderedSettings](b.Config), b.Matrix(o.mean)
	gates := b.Config.Hidden / own.ChunkSize
	x := o.input(b, own.InputLayers)
	var gate *Node // a column for each gate: [n, gates]
	for l := range b.Config.Forward {
		x = b.Dropout(x)
		m := mean.Product(x)
		net := l
		if own.ShareGate {
			net = 0
		}
		next := cumax(b.Linear(fmt.Sprintf("tm_net.%d", net), Concatenate([]*Node{x, m}, 1), gates))
		if gate != nil {
			next = Add(gate, Mul(OneMinus(gate), next))
		}
		gate = next
		x = Add(m, Mul(repeatColumns(gate, own.ChunkSize), Sub(x, m)))
		x = b.LayerNorm(fmt.Sprintf("tm_norm.%d", l), x)
	}
	return Output{Logits: b.Linear("linear_trans_out", b.Dropout(x), b.Outputs), Representation: x}
}

// input is X_0 of [ordered].
func (o *ordered) input(b *Builder, layers int) (x *Node) {
	for i := range layers {
		name := fmt.Sprintf("linear_trans_in.%d", i)
		if i == 0 {
			x = b.Encode(name, b.Config.Hidden)
		} else {
			x = b.Linear(name, b.Dropout(x), b.Config.Hidden)
		}
		x = b.LayerNorm(fmt.Sprintf("norm_input.%d", i), Max(x, ZerosLike(x)))
	}
	return x
}

// cumax returns the cumulative sums of the softmax of every row of x, [n, k]. Entry j of a row of the result is the sum
// of entries 0 … j of the softmax. The entries of a row rise to 1, like a smooth version of the row 0 … 0 1 … 1.
func cumax(x *Node) *Node {
	k := x.Shape().Dimensions[1]
	at := func(axis int) *Node { return Iota(x.Graph(), shapes.Make(dtypes.Int32, k, k), axis) }
	upTo := ConvertDType(LessOrEqual(at(0), at(1)), x.DType())
	return Dot(Softmax(x, 1), upTo).Product()
}

// repeatColumns repeats every column of x, [n, k]. The argument times is the number of copies of each column. The
// copies of a column are next to each other in the result, which has k·times columns.
func repeatColumns(x *Node, times int) *Node {
	n, k := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	return Reshape(BroadcastToDims(Reshape(x, n, k, 1), n, k, times), n, k*times)
}
