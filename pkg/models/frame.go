package models

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// frame is the part that all models of the paper have in common (section 3.1). It has an encoder, forward message
// passing, reverse message passing that starts from the same encoded features H, and a head. The head reads the results
// of both directions side by side:
//
//	H = dropout(ReLU(X W_in + b)),  Y = head(norm( f∘…∘f(H) ‖ g∘…∘g(H) )),  g = f^-1
//
// X are the node features, Y are the logits, f is a forward layer, and norm is the normalisation that the setting
// "norm" names. The method encode applies dropout before ReLU, which gives the same result as dropout after ReLU.
type frame struct{ backbone }

// backbone is the part in which the paper's models differ: the message passing between encoder and head.
type backbone interface {
	Prepare(g *graphs.Graph) (sparse.Order, []*tensors.Tensor, error)
	// encoder returns the name of the encoder's linear layer in the authors' PyTorch code. head returns the name of
	// layer i of the n linear layers of the head.
	encoder() string
	head(i, n int) string
	// spread adds rows to h for the nodes that Half-Hop adds to the graph (see [halfHop]). h holds the encoded features
	// of the graph's own nodes, before the encoder's activation.
	spread(b *Builder, h *Node) *Node
	// represent computes the representation, which the head reads, from the encoded features h. solves is the number of
	// solves in one computation of the network. stats holds the sum of the iterations of all these solves, so that this
	// sum divided by solves is the mean number of iterations.
	represent(b *Builder, h *Node) (representation *Node, stats *solve.Stats, solves int)
	// roundTrip applies the forward layers to the encoded features, and then the inverses of these layers; see
	// [Inverter].
	roundTrip(b *Builder, h *Node) (end, changes *Node, stats *solve.Stats)
}

func (f frame) Build(b *Builder) (out Output) {
	out.Representation, out.Stats, out.Solves = f.represent(b, f.encode(b))
	out.Logits = f.readout(b, out.Representation)
	return out
}

func (f frame) RoundTrip(b *Builder) (start, end, changes *Node, stats *solve.Stats) {
	start = f.encode(b)
	end, changes, stats = f.roundTrip(b, start)
	return start, end, changes, stats
}

// encode returns the encoded features H, which the first layer reads.
func (f frame) encode(b *Builder) *Node {
	h := b.Dropout(f.spread(b, b.Encode(f.encoder(), b.Config.Hidden)))
	return Max(h, ZerosLike(h))
}

// readout is the head: it computes logits from a representation x. It applies the normalisation that the setting "norm"
// names, and then linear layers with ReLU between them.
func (f frame) readout(b *Builder, x *Node) *Node {
	x = b.Norm("out_norm", x)
	n := b.Config.HeadLayers
	for i := range n {
		out := b.Config.Hidden
		if i > 0 {
			x = Max(x, ZerosLike(x))
		}
		if i == n-1 {
			out = b.Outputs
		}
		x = b.Linear(f.head(i, n), x, out)
	}
	return x
}

// sequential returns the name of linear layer i in a torch.nn.Sequential in which linear layers and activations
// alternate.
func sequential(name string, i int) string { return fmt.Sprintf("%s.%d", name, 2*i) }
