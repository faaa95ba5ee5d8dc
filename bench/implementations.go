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

// The scripts that may be a case's peer. Both use PyTorch. peer.py is written by hand, and pyg.py uses the layers of
// PyTorch Geometric.
const (
	// peer.py is written by hand, pyg.py uses PyTorch Geometric's layers.
	byHand = "peer.py"
	pyg    = "pyg.py"
)

var peers = []string{byHand, pyg}

// peerTakes lists the settings that peer.py can be given, and authorsTakes lists those of the authors' code. The
// learning rate is not in the lists, since every script is given it. In all other settings, the cases for these scripts
// do not differ. pyg.py has no list, since it is given all settings of the model.
var (
	peerTakes    = []string{"forward", "reverse", "max-iterations", "tolerance", "lipschitz"}
	authorsTakes = slices.Concat(peerTakes,
		[]string{"hidden", "heads", "solver", "time", "reverse-time", "step", "attention-dim"})
)

// setup is where the programs are; python and authors are "" if there is none.
type setup struct {
	revgnn, data, engine string
	// python is the path of a Python that has PyTorch. authors is the path of a checkout of the authors' code. Each of
	// them is empty if there is none.
	python, authors string
	// scripts is the folder of peer.py, pyg.py and authors.py.
	scripts string
}

// check finds scripts and Python; out is where `make peer` installs one.
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

// packages names the Python packages that the peers import. Messages to the user contain it.
const packages = "torch, torch_geometric and numpy"

// findPython is the given Python, or that of `make peer` in out, or python3, if it has the packages, else "".
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

// available are the programs that can run, and why others cannot.
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

// command is the command line of a program for a case, or why it is skipped. Scripts get the settings that they know.
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
	l.flag("epochs", c.config.Epochs)
	l.flag("model", c.config.Model)
	l.settings(c, p, func(string) bool { return true })
	return l
}

func (s setup) peer(c Case, p Prepared) []string {
	l := line{s.python, filepath.Join(s.scripts, c.Peer)}
	l.flag("graph", p.File)
	l.flag("steps", c.config.Epochs)
	if c.Peer == byHand {
		l.settings(c, p, func(name string) bool { return slices.Contains(peerTakes, name) })
		return l
	}
	l.flag("model", c.config.Model)
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
	l.flag("model", c.config.Model)
	l.settings(c, p, func(name string) bool { return slices.Contains(authorsTakes, name) })
	return l
}

type line []string

// flag adds --name=value in one word, as booleans need.
func (l *line) flag(name string, value any) { *l = append(*l, fmt.Sprintf("--%s=%v", name, value)) }

// settings adds initial weights, learning rate, and the settings that the program takes.
func (l *line) settings(c Case, p Prepared, takes func(name string) bool) {
	l.flag("weights", p.Weights)
	l.flag("lr", c.config.LearningRate)
	for _, setting := range c.config.ModelSettings() {
		if takes(setting.Name) {
			l.flag(setting.Name, setting.Current())
		}
	}
}

// authorsBytes estimates the memory of the authors' code, which keeps for each evaluation of a layer of width d: 5 d
// numbers for each node, and for each entry of the adjacency 24 bytes and its messages (measured with PyTorch Geometric
// 2.8; older versions need several times as much). The process has a memory limit besides.
func authorsBytes(c Case, p Prepared) int64 {
	const base = 0.9e9 // Python and its packages
	d, n, entries := float64(c.config.Hidden), float64(p.Nodes), float64(p.entries())
	return int64(base + c.Authors.Evaluations*(20*d*n+24*entries+4*d*c.Authors.Messages*entries))
}

func gb(bytes int64) float64 { return float64(bytes) / 1e9 }
