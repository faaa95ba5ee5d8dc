package search

import (
	"context"
	"fmt"
	"time"

	"github.com/revgnn/revgnn/pkg/runs"
)

// work is the state of [Search.Run] while it runs in this process.
type work struct {
	*Search
	id      string
	sampler *Sampler
	claims  runs.Claims
	// Trials that failed before began are made again.
	began time.Time
	known known
	costs *costs
	// late are the jobs that were stopped for the deadline, and that this process does not begin again.
	late map[Job]bool
}

// look reads the records of the search again.
func (w *work) look() (err error) {
	if w.known, err = read(w.Store, w.id, w.began); err != nil {
		return err
	}
	if w.costs == nil {
		if w.costs, err = newCosts(w.Store, w.Engine.Name); err != nil {
			return err
		}
	}
	return w.hopeless()
}

// hopeless returns an error if the first ten trials failed, or all if there are fewer: further ones would probably
// fail, too.
func (w *work) hopeless() error {
	const enough = 10
	count, why := 0, ""
	for _, t := range w.known {
		failed, is := t.failed()
		if !is {
			return nil
		}
		count, why = count+1, failed
	}
	if count < enough && (count == 0 || count != w.Schedule.Trials) {
		return nil
	}
	return fmt.Errorf("all of the first %d trials failed, such as one since %s; change that, or settings that are "+
		"given, and search again: failed trials are then made once more", count, why)
}

// next claims the first step that is predicted to end before the deadline and that no other process has claimed. If
// others have claimed all, it waits for one of them. It returns nil if the search is over.
func (w *work) next(ctx context.Context) (*Step, *runs.Claim, error) {
	for {
		step, own, taken, err := w.claim()
		if err != nil || own == nil && taken == nil {
			return nil, nil, err
		}
		if own == nil {
			if own, err = w.wait(ctx, *taken); err != nil || own == nil {
				return nil, nil, err
			}
			step = taken
		}
		// Another process may have made this step since the records were read.
		if err := w.look(); err != nil {
			own.Release()
			return nil, nil, err
		}
		if w.wanted(*step) {
			return step, own, nil
		}
		own.Release()
	}
}

// ahead is the largest number of new trials that claim goes through: without a limit on trials they have no end.
const ahead = 64

// claim claims the first step that can be. If other processes have claimed all, it returns the first of them as taken.
func (w *work) claim() (step *Step, own *runs.Claim, taken *Step, err error) {
	fresh := 0
	for job := range w.Schedule.Next(w.known.standings(w.splits())) {
		if _, begun := w.known[job.Trial]; !begun {
			if fresh++; fresh > ahead {
				break
			}
		}
		steps, err := w.steps(job)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, s := range steps {
			if !w.fits(s) {
				break
			}
			own, err := w.claims.Try(w.claimKey(s))
			if own != nil || err != nil {
				return &s, own, nil, err
			}
			if taken == nil {
				taken = &s
			}
		}
	}
	return nil, nil, taken, nil
}

// wait waits until another process releases a step, and claims it. It returns nil if the deadline comes first.
func (w *work) wait(ctx context.Context, s Step) (*runs.Claim, error) {
	if w.Waits != nil {
		w.Waits()
	}
	until := ctx
	if !w.Deadline.IsZero() {
		var cancel context.CancelFunc
		until, cancel = context.WithDeadline(ctx, w.Deadline)
		defer cancel()
	}
	own, err := w.claims.Await(until, w.claimKey(s))
	interrupted, late := ctx.Err() != nil, until.Err() != nil
	if late && own != nil { // the lock came at the very end of the time
		own.Release()
	}
	switch {
	case interrupted:
		return nil, fmt.Errorf("interrupted while another process made %s; the same command goes on from here", s)
	case late:
		return nil, nil
	}
	return own, err
}

// steps returns the steps of a job: one for each split on which the job is not done.
func (w *work) steps(job Job) (steps []Step, err error) {
	sample, err := w.sampler.Trial(job.Trial)
	if err != nil {
		return nil, err
	}
	for _, k := range w.splits() {
		if _, done := w.known.of(job, k); !done {
			steps = append(steps, Step{job, k, w.Schedule.Rungs[job.Rung], sample})
		}
	}
	return steps, nil
}

// wanted tells whether a step is still to be made. New trials come last in Next, in order and without end, so that it
// can stop at the first one after the step's.
func (w *work) wanted(step Step) bool {
	for job := range w.Schedule.Next(w.known.standings(w.splits())) {
		if job == step.Job {
			_, done := w.known.of(job, step.Split)
			return !done
		}
		if _, begun := w.known[job.Trial]; !begun && job.Trial > step.Trial {
			return false
		}
	}
	return false
}

func (w *work) splits() []int {
	var out []int
	for _, b := range w.Graphs {
		out = append(out, b.split)
	}
	return out
}

// claimKey does not depend on the rung: a training goes on from rung to rung with one checkpoint.
func (w *work) claimKey(s Step) string {
	key, err := runs.Key(map[string]any{"search": w.id, "trial": s.Trial, "split": s.Split})
	if err != nil {
		panic(err) // plain data can always be written as JSON
	}
	return key
}

// fits tells whether a step is predicted to reach its rung before the deadline.
func (w *work) fits(s Step) bool {
	if w.Deadline.IsZero() {
		return true
	}
	left := time.Until(w.Deadline).Seconds()
	return left > 0 && !w.late[s.Job] && w.costs.seconds(w.Dataset, s, w.known, w.claims.Kept(w.claimKey(s))) <= left
}
