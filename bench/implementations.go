package main

import (
	"fmt"
	"strconv"

	"github.com/revgnn/revgnn/pkg/models"
)

// The programmes that are compared.
const (
	Ours    = "revgnn"
	Peer    = "peer"
	Authors = "authors"
)

// setup is what the programmes need.
type setup struct {
	revgnn, data, engine string
	// python has PyTorch; empty where there is none. authors is the checkout of the authors' code, empty without.
	python, authors string
	// peer and authorsScript are the scripts' paths.
	peerScript, authorsScript string
}

// command is the command line of a programme for a case; skip says in a sentence why it has none.
func (s setup) command(which string, c Case, p Prepared, free int64) (args []string, skip string) {
	k := c.Config
	flag := func(name string, value any) {
		text := fmt.Sprint(value)
		if f, ok := value.(float64); ok {
			text = strconv.FormatFloat(f, 'g', -1, 64)
		}
		args = append(args, "--"+name, text)
	}
	common := func(steps string, count int) {
		flag("weights", p.Weights)
		flag("lr", k.LearningRate)
		flag(steps, count)
		if k.Solver == "" {
			flag("forward", k.Forward)
			flag("reverse", k.Reverse)
			flag("max-iterations", k.MaxIterations)
			flag("tolerance", k.Tolerance)
			flag("lipschitz", k.Lipschitz)
		}
	}
	shared := func() { // of revgnn and the authors' code
		flag("model", k.Model)
		flag("hidden", k.Hidden)
		flag("heads", k.Heads)
		if k.Solver != "" {
			flag("solver", k.Solver)
			flag("time", k.Time)
			flag("reverse-time", k.ReverseTime)
			flag("step", k.Step)
			flag("attention-dim", k.AttentionDim)
		}
	}
	switch which {
	case Ours:
		args = []string{s.revgnn, "bench", "--json", "--quiet"}
		flag("dataset", p.Dataset)
		if s.data != "" {
			flag("data", s.data)
		}
		if s.engine != "" {
			flag("engine", s.engine)
		}
		common("epochs", k.Epochs)
		shared()
		flag("normalise", k.Normalise)
	case Peer:
		if k.Model != models.GCNRep {
			return nil, "the peer is a GCN"
		}
		args = []string{s.python, s.peerScript}
		flag("graph", p.File)
		common("steps", k.Epochs)
	case Authors:
		if need := authorsBytes(c, p); need > free {
			return nil, fmt.Sprintf("needs some %.0f GB, %.0f are free", gb(need), gb(free))
		}
		args = []string{s.python, s.authorsScript}
		flag("checkout", s.authors)
		flag("graph", p.File)
		flag("memory", free)
		common("steps", c.AuthorsSteps)
		shared()
	}
	return args, ""
}

// available lists the programmes that can run, and why others can't.
func (s setup) available() (which []string, missing map[string]string) {
	which, missing = []string{Ours}, map[string]string{}
	switch {
	case s.python == "":
		missing[Peer] = "no Python with torch and numpy was found: `make peer` installs them, or name one with --python"
		missing[Authors] = missing[Peer]
	case s.authors == "":
		missing[Authors] = "no checkout of ml-postech/reverse-gnn was given with --authors"
		which = append(which, Peer)
	default:
		which = append(which, Peer, Authors)
	}
	return which, missing
}

// authorsBytes estimates the memory of the authors' code, which keeps every iteration for the backward pass, by what was
// measured with PyTorch Geometric 2.8 (older versions keep the messages of GCN, too, and need several times as much). An
// evaluation of a layer keeps 5 arrays of d values per node, and per entry 24 bytes of indices and weights; GAT and GRAND
// also keep the messages, d values per entry and head. A solve is taken to need three quarters of the most iterations.
// What needs more than is free after all ends by the limit that the process is given.
func authorsBytes(c Case, p Prepared) int64 {
	const base = 0.9e9 // Python and its packages
	k := c.Config
	messages, evaluations := 0.0, float64(k.Forward)+0.75*float64(k.Reverse*k.MaxIterations)
	switch {
	case k.Model == models.GATRep:
		messages = float64(k.Heads)
	case k.Solver != "":
		messages, evaluations = 1, 4*(k.Time+k.ReverseTime)/k.Step // of the Runge-Kutta method
	}
	d, n, entries := float64(k.Hidden), float64(p.Nodes), float64(p.entries())
	return int64(base + evaluations*(20*d*n+24*entries+4*d*messages*entries))
}

// gb is a number of bytes in 10^9 bytes.
func gb(bytes int64) float64 { return float64(bytes) / 1e9 }
