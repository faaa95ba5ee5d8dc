package live

import (
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/train"
)

// Choose returns one of two tasks. If this machine has an engine that compiles networks with XLA, it returns the first.
// Otherwise it returns the second, which should be smaller: the pure-Go engine runs everywhere, but is some fifty times
// slower. Choose prints the name of the engine, and why it was chosen. It panics if no engine can be opened.
func Choose[T any](compiled, pureGo T) T {
	e := nb.Must(engine.Open(""))
	fmt.Printf("Engine: %s (%s).\n", e.Name, e.Why)
	if e.Name == engine.Go {
		return pureGo
	}
	return compiled
}

// A Network is one of the networks that [Compare] trains. Settings that have no field here are those of
// [train.Default].
type Network struct {
	// Name is the name of the network. Each network of a comparison needs another name. Base is the name of the network
	// with whose scores the scores of this network are compared, or "".
	Name, Base string
	// Model is the name of the model for [train.Default], such as "gcn+rep".
	Model string
	// Forward and Reverse are the numbers of layers in each direction.
	Forward, Reverse int
	// Layers are numbers of layers. The states of the trained network after these numbers of layers are recorded
	// ([nb.Run].ForwardStates). The state after 0 layers is the encoded input. If Layers is nil, no states are
	// recorded. Layers must be nil for models that are not made of layers, such as GRAND.
	Layers []int
}

// Compare trains the networks one after the other on the first split of the graph, with the fastest engine of this
// machine. It shows a progress bar for each network ([Fit]). The function settings may change the configuration of a
// network before the training; it may be nil. If there is an error, or if a training diverges, Compare panics, so that
// the cell fails with the message.
func Compare(g *graphs.Graph, settings func(*train.Config), networks ...Network) nb.Runs {
	e := nb.Must(engine.Open(""))
	runs := nb.Runs{Metric: titles[train.Metric(g)], Labels: g.Labels}
	for _, n := range networks {
		c := train.Default(n.Model)
		c.Forward, c.Reverse = n.Forward, n.Reverse
		if settings != nil {
			settings(&c)
		}
		r := Fit(n.Name, e, g, 0, c)
		if r.Status != train.OK {
			panic(fmt.Errorf("live: training %s: %s", n.Name, r.Message))
		}
		run := summary(r)
		run.Name, run.Base, run.Forward, run.Reverse = n.Name, n.Base, n.Forward, n.Reverse
		if len(n.Layers) > 0 {
			t := nb.Must(train.Trace(e, g, 0, c, r.Weights, n.Layers))
			run.ForwardStates, run.ReverseStates = states(t.Forward), states(t.Reverse)
		}
		runs.Runs = append(runs.Runs, run)
	}
	return runs
}

// summary returns those parts of a training's result that notebooks show.
func summary(r *train.Result) nb.Run {
	run := nb.Run{Val: float64(r.Val), Test: float64(r.Test), Epochs: r.Epochs, BestEpoch: r.BestEpoch, Seconds: r.Seconds}
	for _, e := range r.History {
		run.History = append(run.History, nb.Epoch{Epoch: e.Epoch, Loss: float64(e.Loss), Val: float64(e.Val)})
	}
	if r.Outputs == 1 {
		p := train.Prediction{Logits: r.Logits, Outputs: r.Outputs}
		for both := range slices.Chunk(p.Probabilities(), 2) {
			run.Probability = append(run.Probability, both[1])
		}
	}
	return run
}

func states(of []train.State) []nb.State {
	var out []nb.State
	for _, s := range of {
		out = append(out, nb.State{Layer: s.Layer, GSL: float64(s.GSL), Probability: s.Probability})
	}
	return out
}
