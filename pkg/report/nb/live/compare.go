package live

import (
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/train"
)

// Choose returns compiled if the notebook's engine is XLA, and pureGo, which should be smaller, if it is the pure-Go
// one, some fifty times slower. It prints which engine and why, and fails if there is none.
func Choose[T any](compiled, pureGo T) T {
	e := nb.Must(engine.Open(""))
	fmt.Printf("Engine: %s (%s).\n", e.Name, e.Why)
	if e.Name == engine.Go {
		return pureGo
	}
	return compiled
}

// A Network is one that [Compare] trains, by the settings of [train.Default] where nothing else is said.
type Network struct {
	// Name is unique in a comparison; Base is the network to compare with, or "".
	Name, Base string
	// Model is a name such as "gcn+rep".
	Model            string
	Forward, Reverse int
	// After each number of Layers, of both directions, the state is recorded (0: the encoded input), for models made of
	// layers.
	Layers []int
}

// Compare trains the networks one after the other on the first split, each under a bar (see [Fit]). settings, unless
// nil, may change each configuration. The cell fails if a training diverges.
func Compare(g *graphs.Graph, settings func(*train.Config), networks ...Network) nb.Runs {
	e := nb.Must(engine.Open(""))
	runs := nb.Runs{Labels: g.Labels}
	for _, n := range networks {
		c := train.Default(n.Model)
		c.Forward, c.Reverse = n.Forward, n.Reverse
		if settings != nil {
			settings(&c)
		}
		metric := train.Metric(c, g)
		if runs.Metric == "" {
			runs.Metric = metric.Title
		}
		if _, unit := metric.Scale(); unit != "%" || runs.Metric != metric.Title {
			nb.Check(fmt.Errorf("live: %s is trained for %s: choose one metric for all networks, and one that is a share",
				n.Name, metric.Title))
		}
		r := Fit(n.Name, e, g, 0, c)
		if r.Status != train.OK {
			nb.Check(fmt.Errorf("live: training %s: %s", n.Name, r.Message))
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
