package nb

// A Run is the result of one training, for cells that show it. It holds only plain values, so that such a cell is
// compiled without the engine and the trainer. [github.com/revgnn/revgnn/pkg/report/nb/live.Compare] makes runs;
// [Save] and [Load] pass them from cell to cell.
type Run struct {
	// Name is the network's name. Base is the name of the run that its scores are compared with; "" for none.
	Name, Base string
	// Forward and Reverse are the numbers of layers in each direction.
	Forward, Reverse int
	// Val and Test are the metric on the validation and test nodes, 0 to 1, with the parameters of BestEpoch.
	Val, Test float64
	// Epochs is the number of epochs run. BestEpoch is the epoch whose parameters were kept.
	Epochs, BestEpoch int
	// Seconds is the time that the training took.
	Seconds float64
	// History has all epochs.
	History []Epoch
	// Probability has the probability of class 1 for each node; nil for more than two classes.
	Probability []float64
	// ForwardStates and ReverseStates are the states after layers, if they were asked for. Networks without reverse
	// layers have no reverse states.
	ForwardStates, ReverseStates []State
}

// Epoch is a run after one epoch: the loss on the training nodes, and the metric on the validation nodes.
type Epoch struct {
	Epoch     int
	Loss, Val float64
}

// State describes a trained network's state after a number of layers.
type State struct {
	// Layer is the number of layers before it; 0 is the encoded input.
	Layer int
	// GSL is the mean cosine similarity of the features over all pairs of nodes.
	GSL float64
	// Probability has the probability of class 1 for each node, if the head reads this state alone; nil for more than
	// two classes.
	Probability []float64
}

// Runs are networks trained on the same split of the same graph, in the order in which they are shown.
type Runs struct {
	// Metric is the metric that the networks are judged by, as written in titles: "ROC-AUC" or "accuracy".
	Metric string
	// Labels are the labels of the graph's nodes.
	Labels []int32
	Runs   []Run
}

// find returns the run with the given name; nil if there is none.
func (rs Runs) find(name string) *Run {
	for i := range rs.Runs {
		if rs.Runs[i].Name == name {
			return &rs.Runs[i]
		}
	}
	return nil
}
