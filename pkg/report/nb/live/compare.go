package live

import (
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/train"
)

// Choose returns compiled if this machine has an engine that compiles with XLA, else pureGo. pureGo should be a smaller
// task: the pure-Go engine needs no plugin, but is some fifty times slower. Choose prints which engine it is, and why.
// It panics if no engine can be opened.
func Choose[T any](compiled, pureGo T) T {
	e := nb.Must(engine.Open(""))
	fmt.Printf("Engine: %s (%s).\n", e.Name, e.Why)
	if e.Name == engine.Go {
		return pureGo
	}
	return compiled
}

// A Network is one of the models that [Compare] trains. All other settings are those of [train.Default].
type Network struct {
	// Name is the network's name, which no other network of the comparison has. Base is the name of the network that
	// its scores are compared with, or "".
	Name, Base string
	// Model is the model's name, as for [train.Default], such as "gcn+rep".
	Model string
	// Forward and Reverse are the numbers of layers in each direction.
	Forward, Reverse int
	// Layers are the numbers of layers after which the trained network's states are kept ([nb.Run].ForwardStates); 0 is
	// the input. nil keeps none. Models that are not made of layers, such as GRAND, need nil.
	Layers []int
}

// Compare trains the networks one after the other on the graph's first split, on this machine's engine, with a progress
// bar for each ([Fit]). settings, if not nil, may change a network's configuration before training. Compare panics with
// errors, as [nb.Must] does, and also if a training diverges.
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

// summary is the part of a result that the cells of a notebook show.
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
