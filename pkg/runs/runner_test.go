package runs

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/train"
)

// runner returns a Runner whose profile has the datasets minesweeper and tolokers. As the dataset minesweeper, the
// Runner loads a small generated board. The dataset tolokers cannot be loaded.
func runner(t *testing.T, path string) *Runner {
	t.Helper()
	store, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	e := enginetest.Open(t, engine.Go)
	p := profile(t, `{"name": "tiny", "datasets": ["minesweeper", "tolokers"], "splits": [0, 1, 2], "tried": 1,
		"candidates": [{"settings": {"hidden": 4, "epochs": 3, "max_iterations": 4, "lr": [0.01, 1e30]},
			"depths": [{"forward": 2, "reverse": 2}]}]}`)
	return &Runner{Scope: Scope{Profile: p}, Store: store, EngineName: engine.Go,
		Engine: func() (*engine.Engine, error) { return e, nil },
		Load: func(ctx context.Context, name string) (*graphs.Graph, error) {
			if name != "minesweeper" {
				return nil, errors.New("no such file")
			}
			return datasets.Load(ctx, "minesweeper-generated:rows=8,cols=8", datasets.Options{})
		}}
}

// searches is a [Work]. For each of two datasets, it asks for the runs that choose settings for the model gcn+rep, and
// for the runs with the chosen settings.
func searches(v *View) {
	for _, dataset := range []string{"minesweeper", "tolokers"} {
		v.Search(dataset, "gcn+rep")
	}
}

// TestInterruptedAndResumed interrupts a Runner twice in the middle of a run. In the end each run must be recorded
// once.
func TestInterruptedAndResumed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	var ran []string
	for _, limit := range []int{1, 2, 1000} {
		ctx, cancel := context.WithCancel(t.Context())
		r := runner(t, path)
		count, stopped := 0, false
		r.Ended = func(record Record) { ran = append(ran, record.Key) }
		r.Starts = func(Progress) { count++ }
		r.Epoch = func(_ Task, e train.Epoch, left float64) {
			if e.Epoch < e.Epochs && !(left > 0) {
				t.Errorf("in epoch %d of %d there are %g s left", e.Epoch, e.Epochs, left)
			}
			if count == limit { // the run has begun, but not ended
				stopped = true
				cancel()
			}
		}
		err := r.Run(ctx, searches)
		if stopped != (err != nil) || stopped && !strings.Contains(err.Error(), "interrupted in") {
			t.Fatalf("stopped %v, %v", stopped, err)
		}
		cancel()
	}
	r := runner(t, path)
	all, err := r.Store.Find(Query{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ran)
	if len(all) != 4 || len(ran) != 4 || len(slices.Compact(ran)) != 4 {
		t.Errorf("%d records of %d runs", len(all), len(ran))
	}
	if record := all[0]; record.Profile != "tiny" || record.Checksum == "" || record.Engine != engine.Go {
		t.Errorf("got %+v", record)
	}
	var found Found
	v, err := r.View()
	if err != nil {
		t.Fatal(err)
	}
	if used := v.Used(func() { found = v.Search("minesweeper", "gcn+rep") }); len(used) != 4 ||
		len(found.Values()) != 3 || found.Config.LearningRate != 0.01 {
		t.Errorf("%d records came to %+v", len(used), found)
	}
	// The dataset tolokers cannot be loaded. This new Runner has not tried to load it yet, so that the plan still has
	// the four runs on tolokers.
	if p, err := r.Plan(searches); err != nil || p.Missing != 4 || p.Unknown != 4 {
		t.Errorf("%d runs are missing, %d of unknown cost, %v", p.Missing, p.Unknown, err)
	}
}

// TestFailedIsTriedAgain makes a run that fails, since the graph has no such split. The run must then still be missing
// in the plan, and each call of Run must try it once more.
func TestFailedIsTriedAgain(t *testing.T) {
	r := runner(t, filepath.Join(t.TempDir(), "runs.sqlite"))
	work := func(v *View) { Ask[Trained](v, Training("minesweeper", 99, train.Default("gcn"))) }
	for made := range 3 {
		p, err := r.Plan(work)
		if err != nil || p.Missing != 1 || p.Done != 0 {
			t.Errorf("after %d failures: %d missing, %d done, %v", made, p.Missing, p.Done, err)
		}
		failed, err := r.Store.Find(Query{Status: []string{Failed}})
		if err != nil || len(failed) != made {
			t.Errorf("%d failed runs are recorded, want %d; %v", len(failed), made, err)
		}
		time.Sleep(2 * time.Millisecond) // a run of the same millisecond would count as one of this call
		if err := r.Run(t.Context(), work); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTime: after the Runner has timed a few steps of a program, a plan has an estimated time for each task that runs
// this program.
func TestTime(t *testing.T) {
	r := runner(t, filepath.Join(t.TempDir(), "runs.sqlite"))
	r.Datasets = []string{"minesweeper"}
	before, err := r.Plan(searches)
	if err != nil || before.Missing != 4 || before.Unknown != 4 || before.Seconds != 0 || !before.AtLeast {
		t.Fatalf("%+v, %v", before, err)
	}
	timings := 0
	r.Starts = func(Progress) { timings++ }
	for range 2 { // in the second call, there is nothing left to time
		if err := r.Time(t.Context(), searches); err != nil {
			t.Fatal(err)
		}
	}
	after, err := r.Plan(searches)
	if err != nil || timings != 1 || after.Missing != 4 || after.Unknown != 0 ||
		!(after.Seconds > 0) || after.AtLeast {
		t.Errorf("after %d timings: %+v, %v", timings, after, err)
	}
}

func TestRandomGraphs(t *testing.T) {
	g, err := Load(t.Context(), RandomGraph(100, 200), datasets.Options{})
	if err != nil || g.NumNodes != 100 || len(g.Edges) != 200 || len(g.Splits) != 1 {
		t.Fatalf("got %v, %v", g, err)
	}
	if _, err := Load(t.Context(), "random:nodes=4,edges=200", datasets.Options{}); err == nil {
		t.Error("more edges than pairs were accepted")
	}
	c := train.Default("gcn+rep")
	c.Forward, c.Reverse, c.Hidden, c.Epochs = 1, 1, 4, 2
	x := Executor{Engine: enginetest.Open(t, engine.Go), Graph: g, Alone: true}
	r, err := x.Execute(t.Context(), Whole(Bench, g.Name, c))
	if err != nil || r.Status != OK {
		t.Fatalf("%+v, %v", r, err)
	}
	if machine.ResidentSet() > 0 && !strings.Contains(string(r.Outcome), `"idle_rss_bytes"`) {
		t.Errorf("the memory was not measured: %s", r.Outcome)
	}
}

// TestBenchmarkWithoutRecord: if the process of a benchmark ends without a record, the Runner says so, and makes the
// other runs.
func TestBenchmarkWithoutRecord(t *testing.T) {
	r := runner(t, filepath.Join(t.TempDir(), "runs.sqlite"))
	var said []string
	r.Notice = func(text string) { said = append(said, text) }
	r.Alone = func(_ context.Context, task Task) (Record, error) {
		if task.Config.Hidden == 4 {
			return Record{}, errors.New("signal: killed")
		}
		record := Begin(Bench)
		record.Dataset, record.Model, record.Split, record.Status = task.Dataset, task.Config.Model, NoSplit, OK
		return record, nil
	}
	made := 0
	r.Ended = func(Record) { made++ }
	err := r.Run(t.Context(), func(v *View) {
		for _, hidden := range []int{4, 8} {
			c := train.Default("gcn")
			c.Hidden = hidden
			Ask[Timed](v, Whole(Bench, "minesweeper", c))
		}
	})
	if err != nil || made != 1 || len(said) != 1 || !strings.Contains(said[0], "left out: signal: killed") {
		t.Errorf("%d made, said %q, %v", made, said, err)
	}
}
