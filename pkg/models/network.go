package models

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Network is what a [Kind] makes of a configuration: a model for the nodes of one graph.
type Network interface {
	// Prepare lays a graph out for message passing. It returns the order in which the network has the nodes, and the
	// arrays that Build finds in [Builder.Arrays], such as the arrays of an adjacency matrix. It is called once,
	// before Build.
	Prepare(g *graphs.Graph) (sparse.Order, []*tensors.Tensor, error)
	// Build adds the network to a computation graph. It may be called several times, for training and for evaluation,
	// and panics as GoMLX does where a graph cannot be built.
	Build(b *Builder) Output
}

// Output is what a network makes of a graph, per node in the network's order.
type Output struct {
	// Logits are [n, Outputs]: one for two classes, else one per class.
	Logits *Node
	// Representation is what the last layer, the head, reads: [n, width].
	Representation *Node
	// Stats are the statistics of the reverse process, nil without one. Solves is the number of its solves, 0 without
	// a reverse process: mean iterations are those of all solves divided by Solves.
	Stats  *solve.Stats
	Solves int
	// Penalty, if not nil, is a scalar that is added to the loss in training: a model's own objective.
	Penalty *Node
}

// Inverter is a network whose forward process can be undone.
type Inverter interface {
	Network
	// RoundTrip returns the encoded input, and the result of running the layers forwards and then their inverses.
	// changes are the mean changes of the iterates in each iteration of the inverses (see [solve.Profile]), nil where
	// there are none.
	RoundTrip(b *Builder) (start, end, changes *Node, stats *solve.Stats)
}

// Tracer is a network made of layers whose states can be looked at.
type Tracer interface {
	Network
	// Trace returns the states, [n, d] each, after the given numbers of layers in either direction. Both lists ascend;
	// 0 is the encoded input. Trace has no gradient.
	Trace(b *Builder, forward, reverse []int) (forwards, reverses []*Node)
	// Readout returns the logits, [n, Outputs], that the head makes of a forward and a reverse state. A nil state
	// stands for zeros, so that the head reads the other direction alone (paper section 4.1.3, "Qualitative
	// Analysis"). Plain models have no reverse states.
	Readout(b *Builder, forward, reverse *Node) *Node
}

// Explainer is a network whose computation can end in failure.
type Explainer interface {
	Network
	// Explain says in a sentence why a computation failed, given the value of its Output.Stats.Outcome; it returns ""
	// if the computation did not fail.
	Explain(outcome int) string
}

// Pretrainer is a network of which a part is trained alone at first.
type Pretrainer interface {
	Network
	// Pretraining is the number of epochs in which that part is trained. Early stopping begins after these epochs, and
	// only later epochs can become the best epoch. A training that ends earlier keeps its last parameters.
	Pretraining(c Config) int
}

// Twin is a network with a PyTorch implementation whose files of weights hold arrays that nothing reads.
type Twin interface {
	Network
	// Unused returns the names of these arrays.
	Unused() []string
}

// Layered is a network of layers of one kind.
type Layered interface {
	Network
	// Layer is the zero value of the layer, such as layers.GCN{}.
	Layer() any
}
