package nb

// A Run is the result of one training, for cells that show it. A Run has only numbers and text. So a cell that shows it
// can be compiled without the engine and the trainer. [github.com/revgnn/revgnn/pkg/report/nb/live.Compare] makes runs.
// [Save] and [Load] pass runs from one cell to another.
type Run struct {
	// Name is the name of the network. Base is the name of the run with whose scores the scores of this run are
	// compared, or "".
	Name, Base string
	// Forward and Reverse are the numbers of layers in each direction.
	Forward, Reverse int
	// Val and Test are the metric on the validation nodes and on the test nodes, from 0 to 1, after the epoch
	// BestEpoch.
	Val, Test float64
	// Epochs is the number of epochs that were run. BestEpoch is the epoch with the best metric on the validation
	// nodes.
	Epochs, BestEpoch int
	// Seconds is the time that the training took.
	Seconds float64
	// History has one entry for each epoch.
	History []Epoch
	// Probability has the probability of class 1 for each node. It is nil if there are more than two classes.
	Probability []float64
	// ForwardStates and ReverseStates describe the states after some of the layers, if they were recorded. Networks
	// without reverse layers have no reverse states.
	ForwardStates, ReverseStates []State
}

// Epoch has the loss on the training nodes and the metric on the validation nodes after one epoch.
type Epoch struct {
	Epoch     int
	Loss, Val float64
}

// State describes the state of a trained network after some number of layers in one direction. The state is the matrix
// of the nodes' features after these layers.
type State struct {
	// Layer is this number of layers. For 0 layers, the state is the encoded input.
	Layer int
	// GSL is the mean cosine similarity of the features in this state, over all pairs of nodes.
	GSL float64
	// Probability has, for each node, the probability of class 1 that the head gives if it reads only this state. It is
	// nil if there are more than two classes.
	Probability []float64
}

// Runs are the results of networks that were trained on the same split of the same graph, in the order in which they
// are shown.
type Runs struct {
	// Metric is the name of the metric, as written in headings: "ROC-AUC" or "accuracy".
	Metric string
	// Labels are the labels of the graph's nodes.
	Labels []int32
	Runs   []Run
}

// find returns the run with the given name, or nil if there is none.
func (rs Runs) find(name string) *Run {
	for i := range rs.Runs {
		if rs.Runs[i].Name == name {
			return &rs.Runs[i]
		}
	}
	return nil
}
