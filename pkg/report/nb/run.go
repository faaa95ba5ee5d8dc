package nb

// A Run is the result of one training, for cells that show it. It holds only plain values, so that such a cell is
// compiled without the engine and the trainer. [github.com/revgnn/revgnn/pkg/report/nb/live.Compare] makes runs;
// [Save] and [Load] pass them from cell to cell.
type Run struct {
	// Name of the network, and the name of the run that its scores are compared with; "" for none.
	Name, Base string
	// Forward and Reverse count the layers in each direction.
	Forward, Reverse int
	// Val and Test are the metric of the kept parameters on the validation and test nodes, 0 to 1.
	Val, Test float64
	// Epochs is the number of epochs run, and BestEpoch the one whose parameters were kept.
	Epochs, BestEpoch int
	// Seconds that the training took.
	Seconds float64
	// History of all epochs.
	History []Epoch
	// Probability of class 1 for each node; nil for more than two classes.
	Probability []float64
	// States after layers, if they were asked for; networks without reverse layers have no reverse states.
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
	// GSL is the mean cosine similarity of all pairs of nodes.
	GSL float64
	// Probability of class 1 where the head reads this state alone; nil for more than two classes.
	Probability []float64
}

// Runs are networks trained on the same split of the same graph, in the order in which they are shown.
type Runs struct {
	// Metric that the networks are judged by, as titles have it: "ROC-AUC" or "accuracy".
	Metric string
	// Labels of the graph's nodes.
	Labels []int32
	Runs   []Run
}

// find returns the run of that name; nil where there is none.
func (rs Runs) find(name string) *Run {
	for i := range rs.Runs {
		if rs.Runs[i].Name == name {
			return &rs.Runs[i]
		}
	}
	return nil
}
