package models

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// frame is what the paper's models have in common (section 3.1): an encoder, message passing forwards and, side by
// side with it, backwards, and a head that reads both:
//
//	H = dropout(ReLU(X W_in + b)),  Y = head(norm( f∘…∘f(H) ‖ g∘…∘g(H) )),  g = f^-1
//
// The code applies dropout before ReLU, which gives the same result.
type frame struct{ backbone }

// backbone is what differs between the paper's models: the message passing between encoder and head.
type backbone interface {
	Prepare(g *graphs.Graph) (sparse.Order, []*tensors.Tensor, error)
	// encoder is the name that the encoder's linear layer has in the authors' PyTorch code. head is the name of layer i
	// of the n linear layers of the head.
	encoder() string
	head(i, n int) string
	// spread takes a row for each node of the graph, and adds rows for the additional nodes that take part in message
	// passing (see [halfHop]). It is called before the encoder's activation.
	spread(b *Builder, h *Node) *Node
	// represent makes the representation, which the head reads, from the encoded features. solves is the number of
	// solves in one forward pass of the network. stats holds the sum of the iterations of all these solves, so that the
	// mean number of iterations of a solve is this sum divided by solves.
	represent(b *Builder, h *Node) (representation *Node, stats *solve.Stats, solves int)
	// roundTrip passes the encoded features through the layers and back through their inverses; see [Inverter].
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

// encode is the input of the first layer.
func (f frame) encode(b *Builder) *Node {
	h := b.Dropout(f.spread(b, b.Encode(f.encoder(), b.Config.Hidden)))
	return Max(h, ZerosLike(h))
}

// readout is the head: it makes logits of a representation, by linear layers with ReLU between them.
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

// sequential is the name of linear layer i in a torch.nn.Sequential of linear layers with an activation between every
// two.
func sequential(name string, i int) string { return fmt.Sprintf("%s.%d", name, 2*i) }
