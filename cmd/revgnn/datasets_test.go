package main

import (
	"math"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// TestStats compares the output of `datasets stats` with known numbers. These numbers are from the README of the folder
// with the public datasets.
func TestStats(t *testing.T) {
	want := map[string][5]float64{ // nodes, edges, classes, edge homophily, adjusted homophily
		"squirrel-filtered":  {2223, 46998, 5, .2072, .0086},
		"chameleon-filtered": {890, 8854, 5, .2361, .0295},
		"minesweeper":        {10000, 39402, 2, .6828, .0094},
		"tolokers":           {11758, 519000, 2, .5945, .0926},
		"cora":               {2708, 5278, 7, .8100, .7711},
		"citeseer":           {3327, 4552, 6, .7355, .6707},
		"pubmed":             {19717, 44324, 3, .8024, .6860},
		"computers":          {13752, 245861, 10, .7772, .6823},
		"photo":              {7650, 119081, 8, .8272, .7850},
	}
	args := []string{"datasets", "stats", "--data", realData(t), "--offline", "--json"}
	for name := range want {
		args = append(args, name)
	}
	var all []struct {
		Name                    string
		Nodes, Edges, Classes   float64
		Features, Splits        int
		AverageDegree           float64 `json:"average_degree"`
		EdgeHomophily, Adjusted float64
		Edge                    float64 `json:"edge_homophily"`
		Adj                     float64 `json:"adjusted_homophily"`
		Directed                float64 `json:"directed_edges"`
	}
	succeeds(t, args...).document(t, &all)
	if len(all) != len(want) {
		t.Fatalf("%d datasets of %d", len(all), len(want))
	}
	directed := map[string]float64{"squirrel-filtered": 65718, "chameleon-filtered": 13584}
	digits := func(v float64) float64 { return math.Round(v*1e4) / 1e4 }
	for _, s := range all {
		got := [5]float64{s.Nodes, s.Edges, s.Classes, digits(s.Edge), digits(s.Adj)}
		if got != want[s.Name] || s.Splits != 10 || s.Features < 1 || s.AverageDegree != 2*s.Edges/s.Nodes ||
			s.Directed != directed[s.Name] {
			t.Errorf("%s: got %v, want %v; %+v", s.Name, got, want[s.Name], s)
		}
	}
}

func TestOwnFileAndList(t *testing.T) {
	path := writeFile(t, "own.npz", filestest.Graph())
	if o := succeeds(t, "datasets", "stats", path, tinyGraph); !strings.Contains(o.stdout, path) ||
		!strings.Contains(o.stdout, "144") {
		t.Errorf("got %s", o.stdout)
	}
	var list []struct {
		Name    string
		Present bool
	}
	succeeds(t, "datasets", "list", "--data", t.TempDir(), "--json").document(t, &list)
	if last := len(list) - 1; last < 12 || list[0].Present || !list[last].Present {
		t.Errorf("got %+v", list)
	}
	if o := succeeds(t, "datasets", "list"); !strings.Contains(o.stdout, "roman-empire") {
		t.Errorf("got %s", o.stdout)
	}
}
