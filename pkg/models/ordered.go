package models

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "ordered-gnn", Weighted: true, Title: "Ordered GNN",
		Layer: "LayerNorm(g X + (1-g) M), M = mean of neighbours' X, " +
			"g = SOFTOR(gate of the layer before, cumsum softmax W [X, M])",
		Reference: "Song et al., ICLR 2023",
		Shared:    []string{"forward", "hidden", "dropout"},
		Own:       orderedSettings{ChunkSize: 4, InputLayers: 1},
		// The authors have width 256 and 64 gates for heterophilic graphs; the rest is theirs.
		Defaults: func(c *Config) { c.Forward, c.Hidden, c.Dropout = 8, 64, 0.2 },
		Check: func(c Config) error {
			if size := OwnOf[orderedSettings](c).ChunkSize; c.Hidden%size != 0 {
				return fmt.Errorf("chunk-size is %d with a hidden width of %d: choose a divisor of the width",
					size, c.Hidden)
			}
			return nil
		},
		New: withMatrix(rowMean, ordered)})
}

// orderedSettings are Ordered GNN's own: C, the number of layers of f, and whether all layers share W and b of the
// gates.
type orderedSettings struct {
	ChunkSize   int  `help:"neurons that share a gate" least:"1" most:"16384"`
	InputLayers int  `help:"layers of the network before message passing" least:"1" most:"16"`
	ShareGate   bool `help:"use one gating network in all layers"`
}

// ordered is Ordered GNN (Song et al., "Ordered GNN: Ordering Message Passing to Deal with Heterophily and
// Over-smoothing", ICLR 2023). In each layer, C neurons (columns of X_l) keep a share g of their values, and take 1 - g
// from the mean over neighbours. Gates only grow: neurons whose gate is near 1 hold messages of earlier layers.
//
//	X_0     = f(F)                                  [n, d]
//	M_l     = D^-1 A X_l                            [n, d], without self loops
//	ĝ_l     = cumsum(softmax([X_l, M_l] W^T + b))   [n, d/C], called "cumax" in the publication
//	g_{l+1} = g_l + (1 - g_l) ĝ_l,  g_0 = 0         [n, d/C], called "SOFTOR" in the publication
//	X_{l+1} = LayerNorm(g X_l + (1 - g) M_l)        g = g_{l+1} with each column repeated C times
//	logits  = X_L W^T + b                           [n, outputs]
//
// F are the node features. f is one or several layers LayerNorm(ReLU(F W^T + b)) with dropout between them. Softmax and
// cumsum run along rows.
//
// Parameters have the names of the authors' code, https://github.com/LUMIA-Group/OrderedGNN, which also has both
// LayerNorms and dropout of X_l, unlike the publication's formulas. That code has two dropout probabilities, drops
// input features, too, and calls d/C the chunk size; its defaults are L = 8, d = 256, 64 gates, and one or two layers
// in f.
//
// The representation, [n, d], is X_L.
func ordered(b *Builder, mean sparse.Operator) Output {
	own := OwnOf[orderedSettings](b.Config)
	gates := b.Config.Hidden / own.ChunkSize
	var x *Node
	for i := range own.InputLayers {
		name := fmt.Sprintf("linear_trans_in.%d", i)
		if i == 0 {
			x = b.Encode(name, b.Config.Hidden)
		} else {
			x = b.Linear(name, b.Dropout(x), b.Config.Hidden)
		}
		x = b.LayerNorm(fmt.Sprintf("norm_input.%d", i), relu(x))
	}
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

// cumax are the cumulative sums of the softmax of every row of x, [n, k].
func cumax(x *Node) *Node {
	k := x.Shape().Dimensions[1]
	at := func(axis int) *Node { return Iota(x.Graph(), shapes.Make(dtypes.Int32, k, k), axis) }
	upTo := ConvertDType(LessOrEqual(at(0), at(1)), x.DType())
	return Dot(Softmax(x, 1), upTo).Product()
}

// repeatColumns repeats every column of x, [n, k], side by side: [n, k·times].
func repeatColumns(x *Node, times int) *Node {
	n, k := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	return Reshape(BroadcastToDims(Reshape(x, n, k, 1), n, k, times), n, k*times)
}
