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
		Own: OwnSettings(orderedSettings{ChunkSize: 4, InputLayers: 1}, func(s *orderedSettings) []Setting {
			return []Setting{
				{Name: "chunk-size", Value: &s.ChunkSize, Help: "neurons that share a gate", Least: 1, Most: 1 << 14},
				{Name: "input-layers", Value: &s.InputLayers, Help: "layers of the network before message passing",
					Least: 1, Most: 16},
				{Name: "share-gate", Value: &s.ShareGate, Help: "use one gating network in all layers"},
			}
		}),
		// The defaults are from the authors' configurations for heterophilic graphs, except for the width, which is 256
		// there, with 64 gates.
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

// orderedSettings are the settings that Ordered GNN has besides the shared settings. ChunkSize is C of [ordered], and
// InputLayers is the number of layers of the network f before message passing. ShareGate tells that all layers share
// one gating network.
type orderedSettings struct {
	ChunkSize, InputLayers int
	ShareGate              bool
}

// ordered is Ordered GNN (Song et al., "Ordered GNN: Ordering Message Passing to Deal with Heterophily and
// Over-smoothing", ICLR 2023). The columns of X_l, called neurons, are divided among hops: each hop fills neurons of
// its own with the messages of the neighbours. A gate near 1 marks a neuron that earlier hops have filled. Such a
// neuron keeps its value. From layer to layer, the gates can only grow.
//
//	X_0     = f(F)                                  layers dropout(LayerNorm(ReLU(F W^T + b))), [n, d]
//	M_l     = D^-1 A X_l                            [n, d], without self loops
//	ĝ_l     = cumsum(softmax([X_l, M_l] W^T + b))   "cumax", [n, d/C]
//	g_{l+1} = g_l + (1 - g_l) ĝ_l,  g_0 = 0         "SOFTOR"
//	X_{l+1} = LayerNorm(g X_l + (1 - g) M_l)        g = g_{l+1} with each column repeated C times
//	logits  = X_L W^T + b                           [n, outputs]
//
// F are the features of the nodes, A is the adjacency, and D holds the degrees. M_l is the mean over the neighbours.
// The chunk size C is the number of neurons that share a gate. Every layer has its own gating network W, [d/C, 2d], or
// all layers share one.
//
// Parameters have the names of the authors' code, https://github.com/LUMIA-Group/OrderedGNN. The normalisation, and the
// dropout of X_l before each layer and before the last map, are taken from this code; the publication's formulas have
// neither. The code has two dropout probabilities (0 to 0.5 each), and drops input features as well. In the code,
// "chunk size" is the name of the number of gates, d/C. The code's defaults are L = 8 layers, d = 256, 64 gates, and
// one or two layers in f.
type ordered struct{ mean *sparse.Matrix }

// Prepare lays out the matrix D^-1 A of [ordered], [n, n], with which the network takes means over neighbours.
func (o *ordered) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if o.mean, err = sparse.NewMatrix(sparse.Adjacency(g).RowNormalised(), nil); err != nil {
		return nil, nil, err
	}
	return o.mean.Order(), o.mean.Tensors(), nil
}

// Build implements [Network]. The representation is X_L of [ordered], [n, d].
func (o *ordered) Build(b *Builder) Output {
	own, mean := OwnOf[orderedSettings](b.Config), o.mean.On(b.Arrays)
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

// cumax is the cumulative sum of the softmax of every row of x, [n, k]. The numbers in a row rise from near 0 to 1, as
// a soft version of the row 0 … 0 1 … 1.
func cumax(x *Node) *Node {
	k := x.Shape().Dimensions[1]
	at := func(axis int) *Node { return Iota(x.Graph(), shapes.Make(dtypes.Int32, k, k), axis) }
	upTo := ConvertDType(LessOrEqual(at(0), at(1)), x.DType())
	return Dot(Softmax(x, 1), upTo).Product()
}

// repeatColumns repeats every column of x, [n, k], as often as the argument times says. The copies of a column are next
// to each other in the result, [n, k times].
func repeatColumns(x *Node, times int) *Node {
	n, k := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	return Reshape(BroadcastToDims(Reshape(x, n, k, 1), n, k, times), n, k*times)
}
