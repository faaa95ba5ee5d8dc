package main

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/train"
)

// TestCommands checks that every program knows the flags that it is given, and that revgnn is given the values of the
// case.
func TestCommands(t *testing.T) {
	s := setup{revgnn: "revgnn", python: "python", authors: "checkout"}
	for _, c := range all(t) {
		ours, _ := s.command(Ours, c, Prepared{}, 0)
		got := train.Default(c.config.Model)
		got.Epochs = 0
		for _, arg := range ours[4:] {
			name, text, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
			if slices.Contains([]string{"dataset", "model", "weights"}, name) {
				continue
			}
			if err := got.Set(name, text); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
		if got != c.config || !slices.Contains(ours, "--model="+c.config.Model) {
			t.Errorf("%s: revgnn is given %q", c.Name, ours)
		}
		if _, skip := s.command(Peer, c, Prepared{}, 0); (skip == "") != (c.Peer != "") {
			t.Errorf("%s: the peer: %q", c.Name, skip)
		}
	}
	for _, which := range []string{Peer, Authors} {
		for _, c := range all(t) {
			args, skip := s.command(which, c, Prepared{}, math.MaxInt64)
			if skip != "" {
				continue
			}
			text, err := os.ReadFile(args[1])
			if err != nil {
				t.Fatal(err)
			}
			for _, arg := range args[2:] {
				name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
				// The script either declares the flag, with the flag's name in quotes, or has a function with an
				// argument of this name.
				declared := regexp.MustCompile(`"(--)?` + name + `"|\b` + strings.ReplaceAll(name, "-", "_") + `\b`)
				if !declared.Match(text) {
					t.Errorf("%s: %s does not take --%s", c.Name, args[1], name)
				}
			}
		}
	}
}

func TestMemoryOfTheAuthorsCode(t *testing.T) {
	chameleon, mines := Prepared{Nodes: 890, Edges: 8854}, Prepared{Nodes: 10000, Edges: 39402}
	for _, c := range []struct {
		name     string
		on       Prepared
		measured float64
	}{
		{"gcn-communities10000-1-16-64", mines, 2.3},
		{"gcn-communities10000-1-16-64", Prepared{Nodes: 10000, Edges: 100000}, 2.25},
		{"gat-chameleon-8-8-64", chameleon, 1.46},
		{"grand-chameleon-64", chameleon, 1.26},
	} {
		if got := gb(authorsBytes(named(t, c.name), c.on)); got < 0.7*c.measured || got > 1.5*c.measured {
			t.Errorf("%s on %+v: %.1f GB predicted, %.1f measured", c.name, c.on, got, c.measured)
		}
	}
	s := setup{python: "python", authors: "checkout"}
	deep := named(t, "gcn-minesweeper-1-256-64")
	if _, skip := s.command(Authors, deep, mines, 20e9); !strings.Contains(skip, "needs some") {
		t.Errorf("got %q", skip)
	}
}
