package search

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestCosts: if a training continues, its time is predicted from its own time per epoch; without its checkpoint, all of
// its epochs count. The time of a new training is predicted from other trials on this machine; with twice the width, an
// epoch is predicted to take twice as long. A step is not begun if its predicted time exceeds the time that is left
// until the deadline.
func TestCosts(t *testing.T) {
	s := tiny(t, board(t), filepath.Join(t.TempDir(), "runs.sqlite"))
	w := &work{Search: s, costs: runs.NewCosts(nil, s.Engine.Name), known: known{}, tooLate: map[Job]bool{}}
	step := func(trial, rung, hidden int) Step {
		config := s.Base
		config.Hidden = hidden
		return Step{Job{trial, rung}, 0, s.Schedule.Rungs[rung], Sample{Config: config}}
	}
	is := func(what string, s Step, kept bool, want float64) {
		t.Helper()
		if got := w.seconds(s, kept); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g s, want %g", what, got, want)
		}
	}
	is("nothing known", step(0, 0, 4), false, 0)
	record := runs.Begin(runs.Search)
	var err error
	if record.Config, err = json.Marshal(step(0, 0, 4).Config); err != nil {
		t.Fatal(err)
	}
	w.known[0] = trial{{0: {Epochs: 1, Total: 12, CompileSeconds: 2, record: record}}}
	is("the same training", step(0, 1, 4), true, 2+2*10)
	is("the same training without its checkpoint", step(0, 1, 4), false, 2+3*10)
	is("one twice as wide", step(1, 0, 8), false, 2+20)
	is("three epochs of it", step(1, 1, 8), false, 2+3*20)
	elsewhere := record
	elsewhere.Machine.CPU = "another"
	w.known[0][0][0] = Outcome{Epochs: 1, Total: 12, CompileSeconds: 2, record: elsewhere}
	is("on another machine", step(1, 0, 8), false, 0)
	w.known[0][0][0] = Outcome{Epochs: 1, Total: 12, Ended: true, record: record}
	is("one that ended", step(0, 1, 4), true, 0)

	s.Deadline = time.Now().Add(18 * time.Second)
	w.known[0][0][0] = Outcome{Epochs: 1, Total: 12, CompileSeconds: 2, record: record}
	if w.fits(step(1, 0, 8)) || !w.fits(step(1, 0, 4)) {
		t.Error("22 s fit 18 s, or 12 s do not")
	}
	s.Deadline = time.Now().Add(-time.Second)
	if w.fits(step(1, 0, 4)) {
		t.Error("there is no time, and a trial would begin")
	}
}

// TestPace: if a training would miss its deadline, the function that paced returns says so after a few epochs. If a
// training has time enough, the function never says so.
func TestPace(t *testing.T) {
	late := func(left time.Duration) (epoch int) {
		pace := paced(time.Now().Add(left), 1000)
		for epoch = 1; epoch < 20; epoch++ {
			time.Sleep(2 * time.Millisecond)
			if pace(train.Epoch{Epoch: epoch}) {
				break
			}
		}
		return epoch
	}
	if soon, never := late(500*time.Millisecond), late(time.Hour); soon != 4 || never != 20 {
		t.Errorf("ended in epochs %d and %d", soon, never)
	}
}
