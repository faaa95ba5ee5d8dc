package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/runs"
)

// The programs that are compared.
const (
	Ours    = "revgnn"
	Peer    = "peer"
	Authors = "authors"
)

// The scripts that may be a case's peer. peer.py is written by hand, pyg.py uses PyTorch Geometric's layers.
const (
	byHand = "peer.py"
	pyg    = "pyg.py"
)

// Settings that peer.py and the authors' code can be given, beside the learning rate; in others their cases do not
// differ. pyg.py is given all.
var (
	peerTakes    = []string{"forward", "reverse", "max-iterations", "tolerance", "lipschitz"}
	authorsTakes = slices.Concat(peerTakes,
		[]string{"hidden", "heads", "solver", "time", "reverse-time", "step", "attention-dim"})
)

// setup is where the programs are: revgnn, a Python that has PyTorch, and a checkout of the authors' code; the latter
// two are "" if there is none.
type setup struct {
	revgnn, data, engine string
	python, authors      string
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

// command is the command line of a program for a case, or why it is skipped: initial weights, learning rate, and the
// settings that the program takes.
func (s setup) command(which string, c Case, p Prepared, free int64) (args []string, skip string) {
	// As one word, as booleans need.
	flag := func(name string, value any) { args = append(args, fmt.Sprintf("--%s=%v", name, value)) }
	var taken []string // all if nil
	switch {
	case which == Ours:
		args = []string{s.revgnn, "bench", "--json", "--quiet", "--dataset=" + p.Dataset}
		if s.data != "" {
			flag("data", s.data)
		}
		if s.engine != "" {
			flag("engine", s.engine)
		}
		flag("epochs", c.config.Epochs)
		flag("model", c.config.Model)
	case which == Peer && c.Peer == "":
		return nil, "the peer does not have this model"
	case which == Peer:
		args = []string{s.python, filepath.Join(s.scripts, c.Peer), "--graph=" + p.File}
		flag("steps", c.config.Epochs)
		if taken = peerTakes; c.Peer == pyg {
			taken = nil
			flag("model", c.config.Model)
			flag("layout", cmp.Or(p.Layout, layouts[0]))
			if s.engine == engine.CUDA {
				flag("device", "cuda")
			}
		}
	case c.Authors.Steps == 0:
		return nil, "the authors' code does not have this model"
	default:
		if need := authorsBytes(c, p); need > free {
			return nil, fmt.Sprintf("needs some %.0f GB, %.0f are free", gb(need), gb(free))
		}
		args = []string{s.python, filepath.Join(s.scripts, "authors.py"), "--checkout=" + s.authors, "--graph=" + p.File}
		flag("memory", free)
		flag("steps", c.Authors.Steps)
		flag("model", c.config.Model)
		taken = authorsTakes
	}
	flag("weights", p.Weights)
	flag("lr", c.config.LearningRate)
	for _, setting := range c.config.ModelSettings() {
		if taken == nil || slices.Contains(taken, setting.Name) {
			flag(setting.Name, setting.Current())
		}
	}
	return args, ""
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

// Machine describes the machine and the software that were used for the measurements.
type Machine struct {
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	Platform string `json:"platform"`
	Load     string `json:"load"`
	// Memory in bytes.
	Memory     int64  `json:"memory_bytes"`
	FreeMemory int64  `json:"free_memory_bytes"`
	Engine     string `json:"engine"`
	Plugin     string `json:"plugin"`
	// Commit is the commit of the checkout, followed by "+" if the checkout has changes that are not committed.
	Commit   string            `json:"commit"`
	Versions map[string]string `json:"versions"`
}

// examine describes this machine. It asks the operating system and the command `revgnn doctor`.
func examine(s setup) Machine {
	here, d := runs.Begin(runs.Bench), s.doctor()
	return Machine{CPU: cmp.Or(here.Machine.CPU, "unknown"), Cores: here.Machine.Cores,
		Platform: here.Machine.Platform, Load: load(), Memory: d.Memory, FreeMemory: d.Free, Engine: d.Engine,
		Plugin: d.Version, Commit: commit(), Versions: here.Versions}
}

// diagnosis has those fields of the output of `revgnn doctor --json` that are needed here.
type diagnosis struct {
	Engine  string `json:"engine"`
	Version string `json:"version"`
	Memory  int64  `json:"memory_bytes"`
	Free    int64  `json:"free_memory_bytes"`
}

func (s setup) doctor() (d diagnosis) {
	args := []string{"doctor", "--json"}
	if s.engine != "" {
		args = append(args, "--engine", s.engine)
	}
	out, _ := exec.Command(s.revgnn, args...).Output() // it reports what it found even where it fails
	json.Unmarshal(out, &d)
	return d
}

func commit() string {
	head, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(head))
	if changed, err := exec.Command("git", "status", "--porcelain").Output(); err == nil && len(changed) > 0 {
		name += "+"
	}
	return name
}
