package live

import (
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/train"
)

// Choose returns its first argument if the engine of this notebook compiles networks with XLA. If the engine is the one
// in pure Go, Choose returns its second argument. The arguments may be two graphs, for example. The second one should
// be smaller, since the engine in pure Go is some fifty times slower. Choose also prints the name of the engine, and
// why this engine was chosen. It panics if no engine can be opened.
func Choose[T any](compiled, pureGo T) T {
	e := nb.Must(engine.Open(""))
	fmt.Printf("Engine: %s (%s).\n", e.Name, e.Why)
	if e.Name == engine.Go {
		return pureGo
	}
	return compiled
}

// A Network is one of the networks that [Compare] trains. All settings without a field here are at first those of
// [train.Default]. The function that is given to Compare may change them.
type Network struct {
	// Name is the name of the network. No two networks of a comparison may have the same name. Base is the name of
	// another network, with which this network is compared. It is "" if there is none.
	Name, Base string
	// Model is the name of the model for [train.Default], such as "gcn+rep".
	Model string
	// Forward is the number of forward layers, and Reverse is the number of reverse layers.
	Forward, Reverse int
	// Layers says which states of the trained network are recorded. (A state is the features of all nodes after some
	// layers.) For each number k in Layers, the state after k forward layers and the state after k reverse layers are
	// recorded. The state after 0 layers is the encoded input. The fields ForwardStates and ReverseStates of [nb.Run]
	// describe the recorded states. If Layers is nil, no states are recorded. Layers must be nil for models that are
	// not made of layers, such as GRAND.
	Layers []int
}

// Compare trains the networks one after the other on the first split of the graph, with the fastest engine of this
// machine. It shows a progress bar for each network (see [Fit]). The argument settings is nil or a function: this
// function is called before each training, and may change the configuration of the network. If there is an error, or if
// a training diverges, Compare panics, so that the cell fails with a message that says what went wrong.
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
		run.Name, run.Base, run.Forward, run.Reverse = n.Name, n.Base, c.Forward, c.Reverse
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
		out = append(out, nb.State{Layer: s.Layer, GSL: float64(s.GSL), Dirichlet: float64(s.Dirichlet),
			MAD: float64(s.MAD), EffectiveRank: float64(s.EffectiveRank), Probability: s.Probability})
	}
	return out
}
