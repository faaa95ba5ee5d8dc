package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// errLate is the error of a training that was stopped because it would have missed the deadline. Its checkpoint is
// kept.
var errLate = errors.New("there is no time left")

// make makes and records a step.
func (w *work) make(ctx context.Context, s Step, own *runs.Claim) error {
	if w.Starts != nil {
		w.Starts(s)
	}
	record, o, err := w.execute(ctx, s, own)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted in %s; its state and all earlier trials are kept, and the same command goes on from "+
			"here", s)
	case errors.Is(err, errLate):
		w.late[s.Job] = true
		if w.Notice != nil {
			w.Notice(s, "would not come to its rung in time: it is left where it is")
		}
		return nil
	case err != nil:
		return err
	}
	if record.ID, err = w.Store.Add(record); err != nil {
		return fmt.Errorf("%s could not be recorded: %w", s, err)
	}
	o.record = record
	if w.Ended != nil {
		w.Ended(s, o)
	}
	if record.Status == runs.Diverged || o.Ended {
		return own.Recorded()
	}
	return nil // the checkpoint is kept: the training goes on from it later
}

// execute trains up to the step's rung. If the training has ended at a lower rung, the outcome there is copied.
func (w *work) execute(ctx context.Context, s Step, own *runs.Claim) (r runs.Record, o Outcome, err error) {
	i := slices.IndexFunc(w.Graphs, func(b Blind) bool { return b.split == s.Split })
	t := runs.Task{Kind: runs.Search, Dataset: w.Dataset, Config: s.Config.Resolved(), Split: s.Split}
	before, higher := w.known.of(Job{s.Trial, s.Rung - 1}, s.Split)
	if higher && before.Ended {
		if r, err = runs.Start(t, w.Graphs[i].checksum(s.Config), w.Engine.Name); err != nil {
			return r, o, err
		}
		r.Status = runs.OK
		o = before
		o.New = 0
	} else {
		if r, o, err = w.train(ctx, w.Graphs[i].graph, t, s, own); err != nil {
			return r, o, err
		}
		if r.Status == runs.Failed { // a failed training does not report its time
			o.Total = before.Total + r.Seconds
		} else if !o.Began.Equal(before.Began) { // it started over
			before = Outcome{}
		}
		o.New = max(0, o.Epochs-before.Epochs)
		r.Seconds = max(0, o.Total-before.Total)
	}
	r.Profile, r.Key = w.id, w.key(s)
	o.Search, o.Trial, o.Rung, o.Until, o.Settings, o.Metric = w.id, s.Trial, s.Rung, s.Until, s.Settings, w.Metric()
	o.End = time.Now().UTC()
	r.Outcome, err = json.Marshal(o)
	return r, o, err
}

// train goes on from a checkpoint, unless another version of revgnn made it.
func (w *work) train(ctx context.Context, g *graphs.Graph, task runs.Task, s Step, own *runs.Claim) (runs.Record, Outcome,
	error) {
	until, stop := runs.Until(ctx, w.Deadline)
	defer stop()
	pace := paced(w.Deadline, s.Until)
	p := runs.Place{Engine: w.Engine, Graph: g, Checkpoint: own.Training(w.CheckpointEvery),
		Epoch: func(e train.Epoch) {
			if w.Epoch != nil {
				w.Epoch(s, e)
			}
			if pace(e) {
				stop()
			}
		}}
	if s.Rung < len(w.Schedule.Rungs)-1 {
		p.Until = s.Until
	}
	if w.Notice != nil {
		p.Notice = func(text string) { w.Notice(s, text) }
	}
	r, out, err := p.Make(until, task)
	if errors.Is(err, runs.ErrInterrupted) && ctx.Err() == nil {
		err = errLate
	}
	t, went := out.(runs.Trained)
	if err != nil || !went {
		return r, Outcome{Val: train.Number(math.NaN()), Residual: train.Number(math.NaN()),
			AdjointResidual: train.Number(math.NaN())}, err
	}
	if r.Status != runs.Diverged {
		r.Status, r.Message = runs.OK, ""
	}
	return r, Outcome{Epochs: t.Epochs, BestEpoch: t.BestEpoch, Val: t.Val, Ended: t.Status == train.OK, Began: t.Began,
		Total: t.Seconds, EpochSeconds: t.EpochSeconds, CompileSeconds: t.CompileSeconds, PeakRSS: t.PeakRSS,
		PredictedBytes: t.PredictedBytes, Iterations: t.Iterations, Residual: t.Residual,
		AdjointResidual: t.AdjointResidual}, nil
}

// paced returns a function for the end of each epoch, which tells whether the last epoch would come only after the
// deadline, by the mean time of the epochs so far. The first few are too few to tell.
func paced(deadline time.Time, until int) func(train.Epoch) bool {
	const measured = 3
	var start time.Time
	first := 0
	return func(e train.Epoch) bool {
		if deadline.IsZero() {
			return false
		}
		if first == 0 {
			start, first = time.Now(), e.Epoch
		}
		done := e.Epoch - first
		if done < measured {
			return false
		}
		each := time.Since(start) / time.Duration(done)
		return time.Now().Add(each * time.Duration(until-e.Epoch)).After(deadline)
	}
}
