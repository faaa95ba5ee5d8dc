package main

import (
	"cmp"
	"encoding/json"
	"os/exec"
	"strings"

	"github.com/revgnn/revgnn/pkg/runs"
)

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
