package nb

// A Run is the result of one training, in numbers and text alone, so that a cell that shows it compiles without the
// engine and the trainer. Compare of package live makes runs.
type Run struct {
	// Base is the name of a run that this one is compared with, or "".
	Name, Base string
	// Numbers of layers.
	Forward, Reverse int
	// Val and Test are metrics from 0 to 1 with the weights after BestEpoch, the best on the validation nodes.
	Val, Test         float64
	Epochs, BestEpoch int
	Seconds           float64
	History           []Epoch
	// Probability of class 1 for each node; nil for more than two classes.
	Probability []float64
	// States after some numbers of layers; nil if not recorded.
	ForwardStates, ReverseStates []State
}

// Epoch has the training loss and the validation metric of an epoch, counted from 1.
type Epoch struct {
	Epoch     int
	Loss, Val float64
}

// State is the features of all nodes after Layer layers of one direction; layer 0 is the encoded input.
type State struct {
	Layer int
	// How alike features are; see package metrics.
	GSL, Dirichlet, MAD, EffectiveRank float64
	// Probability is what the head makes of this state alone, as in [Run].
	Probability []float64
}

// Runs are trainings on the same split of a graph, in the order in which they are shown.
type Runs struct {
	// Metric as in headings: "ROC-AUC" or "accuracy".
	Metric string
	Labels []int32
	Runs   []Run
}

func (rs Runs) find(name string) *Run {
	for i := range rs.Runs {
		if rs.Runs[i].Name == name {
			return &rs.Runs[i]
		}
	}
	return nil
}
