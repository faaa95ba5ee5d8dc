package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// The programs that are compared.
const (
	Ours    = "revgnn"
	Peer    = "peer"
	Authors = "authors"
)

// The scripts that may be a case's peer: by hand, and of PyTorch Geometric's layers.
const (
	byHand = "peer.py"
	pyg    = "pyg.py"
)

var peers = []string{byHand, pyg}

// The settings that scripts take, beside the training's learning rate; the cases do not differ in others. One that is
// not here takes all that the case's model has.
var (
	peerTakes    = []string{"forward", "reverse", "max-iterations", "tolerance", "lipschitz"}
	authorsTakes = slices.Concat(peerTakes,
		[]string{"hidden", "heads", "solver", "time", "reverse-time", "step", "attention-dim"})
)

// setup is what the programs need.
type setup struct {
	revgnn, data, engine string
	// python has PyTorch; empty where there is none. authors is the checkout of the authors' code, empty without.
	python, authors string
	// scripts is their folder.
	scripts string
}

// check finds what the programs need, out being the folder of results.
func (s *setup) check(out string) error {
	if _, err := os.Stat(s.revgnn); err != nil {
		return fmt.Errorf("there is no %s: run `make build`, or name the program with -revgnn", s.revgnn)
	}
	if s.authors != "" {
		if _, err := os.Stat(filepath.Join(s.authors, "src", "model_resgnn_rep.py")); err != nil {
			return fmt.Errorf("%s is no checkout of ml-postech/reverse-gnn: it has no src/model_resgnn_rep.py",
				s.authors)
		}
	}
	s.scripts = "bench"
	script := filepath.Join(s.scripts, byHand)
	if _, err := os.Stat(script); err != nil {
		return fmt.Errorf("there is no %s here: run it at the top of a checkout", script)
	}
	python, err := findPython(s.python, out)
	s.python = python
	return err
}

// packages are what the peers import.
const packages = "torch, torch_geometric and numpy"

// findPython is a Python that has the packages: the given one, which must, else the one that `make peer` installs,
// else python3; empty if none has.
func findPython(given, out string) (string, error) {
	has := func(python string) bool {
		return exec.Command(python, "-c", "import torch, torch_geometric, numpy").Run() == nil
	}
	if given != "" {
		if !has(given) {
			return "", fmt.Errorf("%s cannot import %s: install them there, or name another Python", given, packages)
		}
		return given, nil
	}
	for _, python := range []string{filepath.Join(out, "venv", "bin", "python"), "python3"} {
		if has(python) {
			return python, nil
		}
	}
	return "", nil
}

// available lists the programs that can run, and why others can't.
func (s setup) available() (which []string, missing map[string]string) {
	which, missing = []string{Ours}, map[string]string{}
	switch {
	case s.python == "":
		missing[Peer] = fmt.Sprintf("no Python with %s was found: `make peer` installs them, or name one with --python",
			packages)
		missing[Authors] = missing[Peer]
	case s.authors == "":
		missing[Authors] = "no checkout of ml-postech/reverse-gnn was given with --authors"
		which = append(which, Peer)
	default:
		which = append(which, Peer, Authors)
	}
	return which, missing
}

// command is the command line of a program for a case; skip says in a sentence why it has none. revgnn is given all
// settings that the case's model has, and the scripts those of them that they take.
func (s setup) command(which string, c Case, p Prepared, free int64) (args []string, skip string) {
	switch which {
	case Ours:
		return s.ours(c, p), ""
	case Peer:
		if c.Peer == "" {
			return nil, "the peer does not have this model"
		}
		return s.peer(c, p), ""
	case Authors:
		if c.Authors.Steps == 0 {
			return nil, "the authors' code does not have this model"
		}
		if need := authorsBytes(c, p); need > free {
			return nil, fmt.Sprintf("needs some %.0f GB, %.0f are free", gb(need), gb(free))
		}
		return s.theirs(c, p, free), ""
	}
	return nil, ""
}

func (s setup) ours(c Case, p Prepared) []string {
	l := line{s.revgnn, "bench", "--json", "--quiet"}
	l.flag("dataset", p.Dataset)
	if s.data != "" {
		l.flag("data", s.data)
	}
	if s.engine != "" {
		l.flag("engine", s.engine)
	}
	l.flag("epochs", c.Config.Epochs)
	l.flag("model", c.Config.Model)
	l.settings(c, p, func(string) bool { return true })
	return l
}

func (s setup) peer(c Case, p Prepared) []string {
	l := line{s.python, filepath.Join(s.scripts, c.Peer)}
	l.flag("graph", p.File)
	l.flag("steps", c.Config.Epochs)
	if c.Peer == byHand {
		l.settings(c, p, func(name string) bool { return slices.Contains(peerTakes, name) })
		return l
	}
	l.flag("model", c.Config.Model)
	l.flag("layout", cmp.Or(p.Layout, layouts[0]))
	l.settings(c, p, func(string) bool { return true })
	return l
}

func (s setup) theirs(c Case, p Prepared, free int64) []string {
	l := line{s.python, filepath.Join(s.scripts, "authors.py")}
	l.flag("checkout", s.authors)
	l.flag("graph", p.File)
	l.flag("memory", free)
	l.flag("steps", c.Authors.Steps)
	l.flag("model", c.Config.Model)
	l.settings(c, p, func(name string) bool { return slices.Contains(authorsTakes, name) })
	return l
}

// line is a command line.
type line []string

// flag adds a flag as one word: true or false are no words of their own behind a flag.
func (l *line) flag(name string, value any) { *l = append(*l, fmt.Sprintf("--%s=%v", name, value)) }

// settings adds the weights, the learning rate and those settings of the case's model that the program takes.
func (l *line) settings(c Case, p Prepared, takes func(name string) bool) {
	l.flag("weights", p.Weights)
	l.flag("lr", c.Config.LearningRate)
	for _, setting := range c.Config.Config.Settings() {
		if takes(setting.Name) {
			l.flag(setting.Name, setting.Current())
		}
	}
}

// authorsBytes estimates the memory of the authors' code, which keeps every evaluation for the backward pass, by what
// was measured with PyTorch Geometric 2.8 (older versions keep the messages of sparse products, too, and need several
// times as much). An evaluation keeps, with d the width, 5 arrays of d values per node, and per entry of the adjacency
// matrix 24 bytes of indices and weights and the messages of d values; [Effort] counts both. What needs more than is
// free after all ends by the limit that the process is given.
func authorsBytes(c Case, p Prepared) int64 {
	const base = 0.9e9 // Python and its packages
	d, n, entries := float64(c.Config.Hidden), float64(p.Nodes), float64(p.entries())
	return int64(base + c.Authors.Evaluations*(20*d*n+24*entries+4*d*c.Authors.Messages*entries))
}

// gb is a number of bytes in 10^9 bytes.
func gb(bytes int64) float64 { return float64(bytes) / 1e9 }
