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

// setup has what the programs need to run. revgnn is the path of the command revgnn, data is its folder of datasets,
// and engine is the name of its engine.
type setup struct {
	revgnn, data, engine string
	// python is the path of a Python that has PyTorch. authors is the path of a checkout of the authors' code. Each of
	// them is empty if there is none.
	python, authors string
	// scripts is the folder of peer.py, pyg.py and authors.py.
	scripts string
}

// check checks that the programs are there, and sets s.scripts and s.python. out is the folder of results, in which
// `make peer` installs a Python.
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

// findPython returns the path of a Python that has the packages that the peers need. If given is not empty, it must be
// the path of such a Python. Otherwise findPython tries the Python that `make peer` installs in the folder out, and
// then python3. If neither has the packages, the result is empty.
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

// available returns the programs that can run. For each other program, missing says why it cannot run.
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

// command returns the command line of a program for a case. If the program cannot run the case, skip says why. The
// command line of revgnn has all settings of the case's model. The command line of a script has only those settings
// that the script can be given.
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

// flag adds a flag and its value as one word, with "=" between them. If the value of a boolean flag were a separate
// word, it would not be read as the value.
func (l *line) flag(name string, value any) { *l = append(*l, fmt.Sprintf("--%s=%v", name, value)) }

// settings adds the file of initial weights, the learning rate, and settings of the case's model. takes says whether
// the program can be given the setting of that name.
func (l *line) settings(c Case, p Prepared, takes func(name string) bool) {
	l.flag("weights", p.Weights)
	l.flag("lr", c.Config.LearningRate)
	for _, setting := range c.Config.ModelSettings() {
		if takes(setting.Name) {
			l.flag(setting.Name, setting.Current())
		}
	}
}

// authorsBytes estimates how many bytes of memory the authors' code needs for a case. This code keeps the arrays of
// every evaluation of a layer for the backward pass. For layers of width d, one evaluation keeps
//
//   - for each node, 5 arrays of d numbers;
//   - for each entry of the adjacency matrix, 24 bytes of indices and weights, and messages of d numbers each.
//
// [Effort] has the number of evaluations, and the number of messages for each entry. The formula is based on
// measurements with PyTorch Geometric 2.8. (Older versions keep messages of sparse products, too, and need several
// times as much memory.) If the estimate is too low, the process reaches the memory limit that it is given, and fails.
func authorsBytes(c Case, p Prepared) int64 {
	const base = 0.9e9 // Python and its packages
	d, n, entries := float64(c.Config.Hidden), float64(p.Nodes), float64(p.entries())
	return int64(base + c.Authors.Evaluations*(20*d*n+24*entries+4*d*c.Authors.Messages*entries))
}

// gb converts a number of bytes to gigabytes, which are 10^9 bytes.
func gb(bytes int64) float64 { return float64(bytes) / 1e9 }
