package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

func TestReadingAndRatios(t *testing.T) {
	ours := `{"epoch_seconds": 2, "compile_seconds": 3, "losses": [1, 0.5, 0.25],
		"iterations": {"solve": 1, "adjoint": 2}}`
	peer := `{"seconds": [9, 4, 6, 5], "losses": [1, 0.501, 0.25, 0.1]}`
	x := Result{}
	for round := range 3 {
		for which, text := range map[string]string{Ours: ours, Peer: peer} {
			r := Run{Program: which, Round: round + 1, PeakBytes: 100}
			if err := r.read([]byte(text)); err != nil {
				t.Fatal(err)
			}
			if which == Peer {
				r.PeakBytes, r.EpochSeconds = 250, r.EpochSeconds*float64(round+1)
			}
			x.Runs = append(x.Runs, r)
		}
	}
	x.Runs = append(x.Runs, Run{Program: Authors, Round: 1, Error: "it died"})
	x.summarise()
	p := x.Programs[Peer]
	if p.EpochSeconds != 10 || p.TimeRatio != 5 || p.MemoryRatio != 2.5 || p.Steps != 3 ||
		math.Abs(p.LossDifference-0.001/0.501) > 1e-12 {
		t.Errorf("got %+v", p)
	}
	if a := x.Programs[Authors]; a == nil || a.Error != "it died" || a.TimeRatio != 0 {
		t.Errorf("got %+v", a)
	}
	r := &Report{Results: []*Result{&x}}
	text, err := r.markdown()
	if err != nil || !strings.Contains(text, "| 5.00 |") || !strings.Contains(text, "failed, it died") {
		t.Errorf("got %s, %v", text, err)
	}
	if f := r.figure(); f == nil {
		t.Error("no figure")
	}
	for _, bad := range []string{"", "{}", `{"seconds": [1], "losses": [1]}`,
		`{"epoch_seconds": 1, "losses": [null]}`} {
		if err := new(Run).read([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestExecuteTellsWhatWentWrong(t *testing.T) {
	r, err := execute(t.Context(), Peer, 1, []string{"sh", "-c", "echo one >&2; echo two >&2; exit 3"}, time.Minute)
	if err != nil || !strings.Contains(r.Error, "exit status 3: two") {
		t.Errorf("got %q, %v", r.Error, err)
	}
	r, err = execute(t.Context(), Peer, 1, []string{"sleep", "10"}, 50*time.Millisecond)
	if err != nil || !strings.Contains(r.Error, "limit of 50ms") {
		t.Errorf("got %q, %v", r.Error, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err = execute(ctx, Peer, 1, []string{"sleep", "10"}, time.Minute); err == nil {
		t.Error("an interrupt was not told")
	}
}

// TestSyntheticGraphs checks the properties of the synthetic graphs. It writes each graph to a file, and reads the file
// as revgnn does.
func TestSyntheticGraphs(t *testing.T) {
	const n = 5000
	for _, kind := range kinds {
		g := synthetic(t, kind, n)
		if g.NumNodes != n || len(g.Edges) != edgesPerNode*n || g.NumFeatures != features || len(g.Splits) != 1 {
			t.Errorf("%s: %d nodes, %d edges, %d features", kind, g.NumNodes, len(g.Edges), g.NumFeatures)
		}
		same, inner := 0, 0
		for _, e := range g.Edges {
			if g.Labels[e[0]] == g.Labels[e[1]] {
				same++
			}
			if e[1]-e[0] < communitySize {
				inner++
			}
		}
		highest := slices.Max(g.Degrees())
		agree, near := float64(same)/float64(len(g.Edges)), float64(inner)/float64(len(g.Edges))
		switch {
		// agree is the fraction of edges that join nodes with the same label. It has no upper limit here, since some of
		// the five communities may happen to have the same label.
		case kind == communities && (agree < inside || highest < 60 || g.NumClasses < 2):
			t.Errorf("%s: %.2f of the edges join equal labels, the highest degree is %d", kind, agree, highest)
		case kind == random && (math.Abs(agree-0.5) > 0.05 || highest > 60 || g.NumClasses != 2):
			t.Errorf("%s: %.2f of the edges join equal labels, the highest degree is %d", kind, agree, highest)
		}
		if near > 0.5 { // of all pairs, 0.36 are less than 1000 apart
			t.Errorf("%s: node numbers tell the communities: %.2f of the edges are short", kind, near)
		}
		one, two := Synthetic{kind, 500}.arrays(), Synthetic{kind, 500}.arrays()
		if !slices.Equal(one[2].Values.([]int32), two[2].Values.([]int32)) {
			t.Errorf("%s: equal seeds give different edges", kind)
		}
	}
	for _, bad := range []string{"random:", "random:5", "communities:1e5"} {
		if _, ok, err := parseSynthetic(bad); !ok || err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	if _, ok, err := parseSynthetic("minesweeper"); ok || err != nil {
		t.Error("a dataset was taken for a synthetic graph")
	}
}

func synthetic(t *testing.T, kind string, n int) *graphs.Graph {
	t.Helper()
	path := filepath.Join(t.TempDir(), kind+".npz")
	if err := npz.Write(path, Synthetic{kind, n}.arrays()); err != nil {
		t.Fatal(err)
	}
	g, err := datasets.Load(t.Context(), path, datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestPeersAgree trains models with revgnn and with their peers, from the same initial weights, and compares the
// losses. A peer is a script that trains the same model in PyTorch: peer.py, or pyg.py with PyTorch Geometric's layers.
// A graph can be given to pyg.py in several layouts (data structures). The test tries each model in one of these
// layouts.
func TestPeersAgree(t *testing.T) {
	python, err := findPython(os.Getenv("BENCH_PYTHON"), filepath.Join("..", "out", "bench"))
	if err != nil {
		t.Fatal(err)
	}
	if python == "" {
		t.Skipf("no Python with %s, the peers are not tested: `make peer` installs them, or set BENCH_PYTHON", packages)
	}
	e := enginetest.Open(t, engine.CPU)
	s, done := setup{python: python, scripts: "."}, map[string]bool{}
	for _, c := range all(t) {
		if c.Peer == "" || done[c.config.Model] {
			continue
		}
		turn := len(done)
		done[c.config.Model] = true
		c.config.Hidden, c.config.Epochs = 8, 5
		if c.config.Forward > 0 {
			c.config.Forward = 2
		}
		if c.config.Reverse > 0 {
			c.config.Reverse = 4
		}
		for i, kind := range kinds { // five labels, and two
			if c.Peer == pyg && i != turn%len(kinds) {
				continue
			}
			t.Run(c.config.Model+" on "+kind, func(t *testing.T) {
				agrees(t, e, s, c, kind, layouts[turn%len(layouts)])
			})
		}
	}
}

// agrees trains the model of a case on a small synthetic graph for five steps, with revgnn and with the case's peer. It
// checks that the losses of both agree.
func agrees(t *testing.T, e *engine.Engine, s setup, c Case, kind, layout string) {
	g := synthetic(t, kind, 300)
	parameters, err := drawn(c.config, g.NumFeatures, g.NumClasses)
	if err != nil {
		t.Fatal(err)
	}
	b, err := train.Bench(t.Context(), e, g, c.config, parameters)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := Prepared{File: filepath.Join(dir, "g.npz"), Weights: filepath.Join(dir, "w.npz"), Layout: layout}
	if err := trained.WriteWeights(p.Weights, parameters); err != nil {
		t.Fatal(err)
	}
	if err := npz.Write(p.File, Synthetic{kind, 300}.arrays()); err != nil {
		t.Fatal(err)
	}
	args, _ := s.command(Peer, c, p, 0)
	r, err := execute(t.Context(), Peer, 1, args, 5*time.Minute)
	if err != nil || r.Error != "" {
		t.Fatalf("%v: %v %s", args, err, r.Error)
	}
	for i, l := range r.Losses {
		if math.Abs(l-float64(b.Losses[i])) > 1e-4*math.Abs(l) {
			t.Errorf("%s, step %d: the peer's loss is %g, revgnn's %g", kind, i+1, l, b.Losses[i])
		}
	}
	if b.Losses[4] >= b.Losses[0] || c.config.Reverse > 0 && r.Iterations.Solve <= 1 {
		t.Errorf("%s: %+v, losses %v", kind, r.Iterations, b.Losses)
	}
}
