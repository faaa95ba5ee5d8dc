package search

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestInterruptedEqualsUnbroken interrupts a search several times, and resumes it each time. In the end, its records
// must equal those of a search that was not interrupted. If the complete search is run once more, no step may be made.
func TestInterruptedEqualsUnbroken(t *testing.T) {
	g, dir := board(t), t.TempDir()
	whole := tiny(t, g, filepath.Join(dir, "whole.sqlite"))
	want := run(t, whole)
	path, goneOn := filepath.Join(dir, "broken.sqlite"), 0
	var got *Result
	for limit := 3; got == nil; limit += 4 {
		ctx, cancel := context.WithCancel(t.Context())
		s, epochs := tiny(t, g, path), 0
		s.Epoch = func(Step, train.Epoch) {
			if epochs++; epochs == limit {
				cancel()
			}
		}
		s.Notice = func(_ Step, text string) { goneOn += strings.Count(text, "going on after epoch") }
		r, err := s.Run(ctx)
		if (err == nil) != (ctx.Err() == nil) || err != nil && !strings.Contains(err.Error(), "goes on from here") {
			t.Fatalf("%v, %v", err, ctx.Err())
		}
		got = r
		cancel()
	}
	if one, two := told(t, tiny(t, g, path)), told(t, whole); one != two {
		t.Errorf("got\n%s\nwant\n%s", one, two)
	}
	if got.Best.Trial != want.Best.Trial || got.Epochs != want.Epochs || goneOn == 0 {
		t.Errorf("got %+v, want %+v; gone on %d times", got.Best, want.Best, goneOn)
	}
	s := tiny(t, g, path)
	s.Starts = func(step Step) { t.Errorf("%s is made again", step) }
	if again := run(t, s); again.Best.Trial != want.Best.Trial {
		t.Errorf("once more: %+v", again.Best)
	}
	// If the limit on trials is raised from 9 to 12, the search goes on from its records. A search without records
	// would make at least 24 steps: 12 trials on two splits.
	more, made := tiny(t, g, path), 0
	more.Schedule.Trials = 12
	more.Starts = func(Step) { made++ }
	if r := run(t, more); len(r.Trials) != 12 || made >= 2*12 || r.Search != want.Search {
		t.Errorf("%d trials, %d steps made", len(r.Trials), made)
	}
}

// TestSeveralProcesses: if several processes work on one search, each step is made by only one of them. Here two values
// of type Search, run at the same time, stand for two processes.
func TestSeveralProcesses(t *testing.T) {
	g, path := board(t), filepath.Join(t.TempDir(), "runs.sqlite")
	var wait sync.WaitGroup
	found := make([]*Result, 2)
	for i := range found {
		s := tiny(t, g, path)
		wait.Go(func() {
			var err error
			if found[i], err = s.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	records, err := tiny(t, g, path).Store.Find(runs.Query{Kind: runs.Search})
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, r := range records {
		if keys[r.Key] {
			t.Errorf("run %s is made twice", r.ID)
		}
		keys[r.Key] = true
	}
	for _, r := range found {
		if r == nil || !r.Complete || len(r.Trials) != 9 || r.Best.Trial != found[0].Best.Trial {
			t.Errorf("%+v", r)
		}
	}
}

// TestFailuresAreWorst: a trial that diverges has a record. Its score counts as worse than those of all other trials.
func TestFailuresAreWorst(t *testing.T) {
	g, dir := board(t), t.TempDir()
	s := tiny(t, g, filepath.Join(dir, "a.sqlite"))
	wild, err := ParseSpace([]byte(`{"name": "wild", "about": "", "rules": [{"settings": {
		"lr": {"choice": [0.01, 1e30]}, "hidden": {"choice": [4, 8]}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s.Space = wild
	r := run(t, s)
	diverged := 0
	for _, one := range r.Trials {
		if one.Status == runs.Diverged {
			diverged++
			if one.Val == one.Val || one.Rung != 0 || one.Message == "" {
				t.Errorf("%+v", one)
			}
		}
	}
	if diverged == 0 || r.Best.Status != runs.OK || string(r.Best.Settings["lr"]) != "0.01" {
		t.Errorf("%d diverged; the best is %+v", diverged, r.Best)
	}
}

// TestStartsOver: a training that has no checkpoint of its lower rung starts over, and all its epochs and seconds
// count. It is stopped and goes on from its own checkpoint, which changes nothing.
func TestStartsOver(t *testing.T) {
	s := tiny(t, board(t), filepath.Join(t.TempDir(), "a.sqlite"))
	s.CheckpointEvery = time.Nanosecond
	w := &work{Search: s, id: s.ID(), sampler: s.Sampler(), claims: runs.ClaimsOf(s.Store),
		known: known{0: {{0: {Epochs: 3, Total: 1, Began: time.Now()}}}}}
	sample, err := w.sampler.Trial(0)
	if err != nil {
		t.Fatal(err)
	}
	claim, err := w.claims.Try("a")
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Release()
	step := Step{Job{0, 1}, 0, 8, sample}
	ctx, stop := context.WithCancel(t.Context())
	s.Epoch = func(_ Step, e train.Epoch) {
		if e.Epoch == 5 {
			stop()
		}
	}
	if _, _, err := w.execute(ctx, step, claim); err == nil {
		t.Error("it was not stopped")
	}
	r, o, err := w.execute(t.Context(), step, claim)
	if err != nil || r.Status != runs.OK || o.Epochs <= 5 || o.New != o.Epochs || r.Seconds != o.Total {
		t.Errorf("%s, %d new epochs of %d in %g of %g s, %v", r.Status, o.New, o.Epochs, r.Seconds, o.Total, err)
	}
}

// TestFailedIsTriedAgain: if a search has records of failed trials, a later run of the search tries these trials again.
// If no trial can be trained, the search ends with an error. The record of a failed step has the seconds that the step
// took, and no new epochs.
func TestFailedIsTriedAgain(t *testing.T) {
	g, dir := board(t), t.TempDir()
	s := tiny(t, g, filepath.Join(dir, "a.sqlite"))
	whole := s.Graphs
	broken := func() {
		s.Graphs = slices.Clone(whole)
		for i, b := range whole {
			without := *b.graph
			without.Features = nil // makes every trial fail
			s.Graphs[i].graph = &without
		}
	}
	id := s.ID()
	w := &work{Search: s, id: id, sampler: s.Sampler(), claims: runs.ClaimsOf(s.Store), tooLate: map[Job]bool{},
		known: known{0: {{0: {Epochs: 3, Total: 1}}}}}
	sample, err := w.sampler.Trial(0)
	if err != nil {
		t.Fatal(err)
	}
	broken()
	claim, err := w.claims.Try("a")
	if err != nil {
		t.Fatal(err)
	}
	r, o, err := w.execute(t.Context(), Step{Job{0, 1}, 0, 3, sample}, claim)
	claim.Release()
	if err != nil || r.Status != runs.Failed || o.New != 0 || r.Seconds <= 0 || o.Total <= 1 {
		t.Errorf("%s, %d new epochs in %g of %g s, %v", r.Status, o.New, r.Seconds, o.Total, err)
	}
	for n := range 9 {
		for split := range 2 {
			failed := runs.Begin(runs.Search)
			failed.Key, failed.Profile, failed.Dataset, failed.Split = r.Key, id, s.Dataset, split
			failed.Started = failed.Started.Add(-time.Hour)
			failed.Status, failed.Message, failed.Model = runs.Failed, "no memory", s.Base.Model
			failed.Engine, failed.Checksum, failed.Config = "go", r.Checksum, r.Config
			failed.Outcome = fmt.Appendf(nil, `{"trial": %d, "rung": 0}`, n)
			if _, err := s.Store.Add(failed); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Graphs = whole
	if got := run(t, s); !got.Complete || len(got.Trials) != 9 || got.Best.Status != runs.OK {
		t.Errorf("%+v", got)
	}
	s = tiny(t, g, filepath.Join(dir, "b.sqlite"))
	broken()
	for range 2 {
		if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "first 9 trials failed") ||
			!strings.Contains(err.Error(), "made once more") {
			t.Errorf("where nothing can be trained: %v", err)
		}
	}
	records, err := s.Store.Find(runs.Query{Kind: runs.Search})
	if err != nil || len(records) != 2*9 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// TestDeadline: a search without a limit on trials ends at its deadline. A later run of the same search, with a new
// deadline, goes on from the records of the first run.
func TestDeadline(t *testing.T) {
	g, path := board(t), filepath.Join(t.TempDir(), "runs.sqlite")
	limited := func(d time.Duration) *Result {
		s := tiny(t, g, path)
		s.Schedule.Trials, s.Deadline = 0, time.Now().Add(d)
		start := time.Now()
		r := run(t, s)
		if took := time.Since(start); took > d+5*time.Second || r.Complete {
			t.Errorf("%v took %v", d, took)
		}
		return r
	}
	first := limited(2 * time.Second)
	if second := limited(2 * time.Second); len(first.Trials) == 0 || second.Epochs <= first.Epochs {
		t.Errorf("%d epochs after %d", second.Epochs, first.Epochs)
	}
	if r := limited(-time.Second); len(r.Trials) < len(first.Trials) {
		t.Errorf("without time: %d trials", len(r.Trials))
	}
}
