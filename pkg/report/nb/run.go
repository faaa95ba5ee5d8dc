package nb

// A Run is the result of one training, in a form that notebooks can show. It has only numbers and text, so that a cell
// that shows it can be compiled without the engine and the trainer. The function Compare of package live makes runs.
// [Save] and [Load] pass them from one cell to another.
type Run struct {
	// Name is the name of the network. Base is the Name of another run, with which this run is compared. It is "" if
	// there is none.
	Name, Base string
	// Forward is the number of forward layers, and Reverse is the number of reverse layers.
	Forward, Reverse int
	// Val is the metric on the validation nodes, and Test is the metric on the test nodes. Both are numbers from 0 to
	// 1. They are computed with the weights after the epoch BestEpoch.
	Val, Test float64
	// Epochs is the number of epochs that were run. BestEpoch is the epoch with the best metric on the validation
	// nodes.
	Epochs, BestEpoch int
	// Seconds is the time that the training took.
	Seconds float64
	// History has one entry for each epoch.
	History []Epoch
	// Probability has an entry for each node: the probability of class 1 that the network predicts. It is nil if there
	// are more than two classes.
	Probability []float64
	// ForwardStates describes the features of the nodes after some numbers of forward layers. ReverseStates describes
	// the features after some numbers of reverse layers. Both are nil if nothing was recorded. ReverseStates is also
	// nil if the network has no reverse layers.
	ForwardStates, ReverseStates []State
}

// Epoch has the results of one epoch of a training. The field Epoch is the number of the epoch, counted from 1. Loss is
// the loss on the training nodes, and Val is the metric on the validation nodes.
type Epoch struct {
	Epoch     int
	Loss, Val float64
}

// State describes one state of a trained network. A state is the features of all nodes after some number of forward
// layers, or after some number of reverse layers.
type State struct {
	// Layer is the number of layers that were applied. If it is 0, the state is the encoded input.
	Layer int
	// These measure how alike the features of nodes are; see package metrics.
	GSL, Dirichlet, MAD, EffectiveRank float64
	// Probability has an entry for each node: the probability of class 1 that the head (the classifier) computes from
	// this state alone. It is nil if there are more than two classes.
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
