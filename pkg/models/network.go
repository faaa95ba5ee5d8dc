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
	// Representation, [n, width], has the node features that the head reads. The head is the last linear layer. In some
	// models it consists of several linear layers.
	Representation *Node
	// Stats has the statistics of the reverse process. A solve is the fixed-point iteration that inverts one layer, and
	// Stats describes all solves together. For GRAND, Stats describes the integrations. Stats is nil if the network has
	// neither solves nor integrations. Solves is the number of solves in one forward pass, so that Stats.Iterations
	// divided by Solves is the mean number of iterations of a solve. For GRAND, Solves is 1.
	Stats  *solve.Stats
	Solves int
	// Penalty is a scalar that training adds to the classification loss. It is nil if the model has no other loss term.
	Penalty *Node
}

// Inverter is a network whose forward process can be undone.
type Inverter interface {
	Network
	// RoundTrip applies the forward layers to start, the encoded input. It then applies the inverses of these layers to
	// the result, which gives end. If the inverses are exact, end equals start. If the inverses are computed by
	// fixed-point iteration, changes is a vector with an entry for each iteration: the mean absolute change of the
	// solution in this iteration, averaged over the layers (see [solve.Profile]). Otherwise changes is nil. GRAND has
	// integrations in place of layers: stats.Outcome tells whether the integrations succeeded.
	RoundTrip(b *Builder) (start, end, changes *Node, stats *solve.Stats)
}

// Tracer is a network made of layers that can return the features of all nodes after each layer. The features after a
// layer are called a state.
type Tracer interface {
	Network
	// Trace returns states, [n, d] each: the features of all nodes after some of the layers. forwards[i] is the state
	// after forward[i] forward layers, and reverses[i] is the state after reverse[i] reverse layers. After 0 layers,
	// the state is the encoded input. The numbers in forward and the numbers in reverse must be in ascending order.
	// Trace is used in evaluation only, not in training.
	Trace(b *Builder, forward, reverse []int) (forwards, reverses []*Node)
	// Readout returns the logits, [n, Outputs], that the head computes from two states. The argument forward is the
	// state after some forward layers, and the argument reverse is the state after some reverse layers. If one of the
	// two arguments is nil, the head reads zeros in its place. The logits then depend on one state alone (paper section
	// 4.1.3, "Qualitative Analysis"). Models without a reverse process ignore the argument reverse.
	Readout(b *Builder, forward, reverse *Node) *Node
}

// Explainer is a network whose computation can fail, and that can say why it failed. An example is GRAND, whose
// integration may stop before it reaches its end time.
type Explainer interface {
	Network
	// Explain returns a sentence that says why a computation failed, or "" if the computation did not fail. The
	// argument outcome is the number that the computation returned as Output.Stats.Outcome. This number stands for
	// success or for a reason of the failure.
	Explain(outcome int) string
}

// Pretrainer is a network that trains only a part of its parameters in the first epochs. These epochs are called
// pretraining.
type Pretrainer interface {
	Network
	// Pretraining returns the number of epochs of pretraining. Early stopping and the choice of the best epoch consider
	// only the epochs after pretraining. If a training ends during pretraining, the result has the parameters of the
	// last epoch.
	Pretraining(c Config) int
}

// Twin is a network whose PyTorch implementation has arrays that this network does not use. The network can read the
// weights of the PyTorch implementation from a file, although the file holds these arrays.
type Twin interface {
	Network
	// Unused returns the names of the arrays that only the PyTorch implementation has. When a file of weights is read,
	// arrays with these names are ignored. An array with another unknown name is an error.
	Unused() []string
}
