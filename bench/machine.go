package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// Machine is where the numbers come from.
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
	// Commit of the checkout, with "+" where files differ from it.
	Commit   string            `json:"commit"`
	Versions map[string]string `json:"versions"`
}

// examine asks revgnn and the system.
func examine(s setup) Machine {
	m := Machine{CPU: cpu(), Cores: runtime.NumCPU(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Load: load(), Commit: commit(),
		Versions: map[string]string{"go": runtime.Version()}}
	d := s.doctor()
	m.Engine, m.Plugin, m.Memory, m.FreeMemory = d.Engine, d.Version, d.Memory, d.Free
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			switch dep.Path {
			case "github.com/gomlx/gomlx", "github.com/gomlx/go-xla", "github.com/gomlx/compute":
				m.Versions[dep.Path[len("github.com/gomlx/"):]] = dep.Version
			}
		}
	}
	return m
}

// diagnosis is the part of `revgnn doctor --json` that is needed here.
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

// cpu is the processor's name, where the system tells.
func cpu() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
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
