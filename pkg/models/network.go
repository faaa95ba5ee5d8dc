package models

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Network is the computation of a model for one graph. The function New of a [Kind] makes it from a configuration.
type Network interface {
	// Prepare makes the arrays that the network needs for message passing on a graph, such as the arrays of an
	// adjacency matrix. It returns these arrays, which Build finds in [Builder.Arrays], and the order of the nodes in
	// all arrays of the model. Prepare is called once, before Build.
	Prepare(g *graphs.Graph) (sparse.Order, []*tensors.Tensor, error)
	// Build adds the network to a computation graph. It may be called several times, for training and for evaluation.
	// Like GoMLX's functions, it panics if the computation graph cannot be built.
	Build(b *Builder) Output
}

// Output is the result of a network. In its arrays with a row for each node, the rows are in the order of the nodes
// that [Network.Prepare] returned.
type Output struct {
	// Logits are [n, Outputs]. A node has one logit for each class, or a single logit if there are two classes.
	Logits *Node
	// Representation is what the last layer, the head, reads: [n, width].
	Representation *Node
	// A solve is the fixed-point iteration that inverts one layer. Stats are the statistics of all solves of the
	// reverse process, or of GRAND's integrations. Stats is nil for networks without solves and integrations. Solves is
	// the number of solves in one forward pass. Stats.Iterations divided by Solves is the mean number of iterations of
	// a solve.
	Stats  *solve.Stats
	Solves int
	// Penalty, if not nil, is a scalar that is added to the loss in training, for example a loss term of the model's
	// own.
	Penalty *Node
}

// Inverter is a network whose forward process can be undone.
type Inverter interface {
	Network
	// RoundTrip runs the layers forwards and then runs their inverses. start is the encoded input, and end is the
	// result, which should equal start. changes has an entry for each iteration of the inverses: how much this
	// iteration changed the solution on average, in absolute value (see [solve.Profile]). changes is nil if the
	// inverses are not found by fixed-point iteration.
	RoundTrip(b *Builder) (start, end, changes *Node, stats *solve.Stats)
}

// Tracer is a network of layers that can return its state, the features of all nodes, after each layer.
type Tracer interface {
	Network
	// Trace returns states, [n, d] each: forwards[i] is the state after forward[i] forward layers, and reverses[i] is
	// the state after reverse[i] reverse layers. The numbers in forward and in reverse are in ascending order. After 0
	// layers, the state is the encoded input. Trace has no gradient.
	Trace(b *Builder, forward, reverse []int) (forwards, reverses []*Node)
	// Readout returns the logits, [n, Outputs], that the head computes from a forward and a reverse state. A nil state
	// stands for zeros, so that the head reads the other state alone (paper section 4.1.3, "Qualitative Analysis").
	// Models without a reverse process ignore the argument reverse.
	Readout(b *Builder, forward, reverse *Node) *Node
}

// Explainer is a network whose computation can fail.
type Explainer interface {
	Network
	// Explain says in a sentence why a computation failed, or returns "" if it did not fail. The argument outcome is
	// the value that the computation gave for Output.Stats.Outcome.
	Explain(outcome int) string
}

// Pretrainer is a network of which only a certain part is trained in the first epochs.
type Pretrainer interface {
	Network
	// Pretraining is the number of first epochs in which only this part is trained. Early stopping begins after these
	// epochs, and only later epochs can become the best epoch. A training that ends during these epochs keeps its last
	// parameters.
	Pretraining(c Config) int
}

// Twin is a network that also exists in PyTorch, and that can read the weights of the PyTorch model from a file. Such a
// file may hold arrays that this network does not use.
type Twin interface {
	Network
	// Unused returns the names of the arrays that this network does not use. A file that holds them is not refused.
	Unused() []string
}

// Layered is a network whose layers are all of one type.
type Layered interface {
	Network
	// Layer is a layer with all fields zero, such as layers.GCN{}. It is nil if the settings give the layers another
	// type.
	Layer() any
}
