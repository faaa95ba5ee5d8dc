package search

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// working returns the state of a search, as if the search had read the given trials from its records. In fact it has no
// records.
func working(t *testing.T, of known) *work {
	t.Helper()
	s := tiny(t, board(t), filepath.Join(t.TempDir(), "runs.sqlite"))
	return &work{Search: s, id: s.ID(), sampler: s.Sampler(), claims: runs.ClaimsOf(s.Store), known: of,
		tooLate: map[Job]bool{}}
}

// made returns the outcome of a trial that went well, with the validation metric val.
func made(val float64) Outcome {
	o := Outcome{Epochs: 1, Val: train.Number(val)}
	o.record.Status = runs.OK
	return o
}

// TestProgressInOrder: the progress of a search must list trials in the order in which they ended. Here trial 0 ended
// before trial 1. Trial 0 had been interrupted and resumed. Its record has the time of all parts (an hour), but the
// start of the last part, a minute before the end. So the order cannot be computed from the starts and the times in the
// records.
func TestProgressInOrder(t *testing.T) {
	one := func(trial int, val float64, start, end, took time.Duration) map[int]Outcome {
		rung := map[int]Outcome{}
		for split := range 2 {
			o, noon := made(val), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
			o.Trial, o.End, o.record.ID = trial, noon.Add(end), fmt.Sprint(trial, split)
			o.record.Started, o.record.Seconds = noon.Add(start), took.Seconds()
			rung[split] = o
		}
		return rung
	}
	w := working(t, known{0: {one(0, 0.5, 0, time.Minute, time.Hour)},
		1: {one(1, 0.6, 2*time.Minute, 3*time.Minute, time.Minute)}})
	r, err := w.result()
	if err != nil || len(r.Progress) != 2 || r.Progress[0].Trial != 0 || r.Progress[1].Trial != 1 {
		t.Errorf("%+v, %v", r.Progress, err)
	}
}

// TestOpen: only steps that are still to be made are open.
// Trials 0, 1 and 2 have reached the first rung, and trial 1 is to continue. Trial 5 has reached this rung on the first
// of two splits, and another process has claimed the second split. Of nine trials, five have not begun: trials 3, 4, 6,
// 7 and 8.
func TestOpen(t *testing.T) {
	both := func(val float64) trial { return trial{{0: made(val), 1: made(val)}} }
	w := working(t, known{0: both(0.5), 1: both(0.7), 2: both(0.6), 5: {{0: made(0.4)}}})
	other, err := w.claims.Try(w.claimKey(Step{Job: Job{5, 0}, Split: 1}))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	claims, first := 0, (*Step)(nil)
	for step, err := range w.open() {
		if err != nil {
			t.Fatal(err)
		}
		own, err := w.claims.Try(w.claimKey(step))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = &step
		}
		if own != nil {
			defer own.Release()
			if claims++; claims == 1 && step.Job != (Job{1, 1}) {
				t.Errorf("the first claim is of %s", step)
			}
		}
	}
	if first == nil || first.Job != (Job{5, 0}) {
		t.Errorf("waits for %v", first)
	}
	if claims != 2*6 {
		t.Errorf("%d claims, want 12", claims)
	}
	for step := range w.open() {
		if slices.Contains([]Job{{0, 0}, {0, 1}, {9, 0}}, step.Job) {
			t.Errorf("%s is open", step)
		}
	}
}

// TestLowerIsBetter: of a search for the smallest log loss, the best trial is the one with the smallest value.
func TestLowerIsBetter(t *testing.T) {
	one := func(trial int, val float64) trial {
		rung := map[int]Outcome{}
		for split := range 2 {
			o := made(val)
			o.Metric, o.Trial, o.record.ID = "log_loss", trial, fmt.Sprint(trial, split)
			o.End = time.Date(2026, 1, 1, 12, trial, split, 0, time.UTC)
			rung[split] = o
		}
		return []map[int]Outcome{rung}
	}
	w := working(t, known{0: one(0, 0.6), 1: one(1, 0.7), 2: one(2, 0.5)})
	w.Base.Metric = "log-loss"
	r, err := w.result()
	if err != nil || r.Metric != "log_loss" || r.Best.Trial != 2 || r.Best.Val != 0.5 {
		t.Fatalf("%+v, %v", r.Best, err)
	}
	var vals []train.Number
	for _, at := range r.Progress {
		vals = append(vals, at.Val)
	}
	top := r.Top(3)
	if fmt.Sprint(vals) != "[0.6 0.5]" || top[0].Trial != 2 || top[2].Trial != 1 {
		t.Errorf("progress %v, top %+v", vals, top)
	}
}
