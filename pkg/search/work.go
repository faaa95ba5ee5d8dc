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
	// began is the time at which Run was called. Trials that failed before this time are made again.
	began time.Time
	// known has the outcomes of the trials; the method look reads them from the records. costs predicts how long steps
	// take.
	known known
	costs *costs
	// late has the jobs that were stopped because they would have missed the deadline. This process does not begin them
	// again.
	late map[Job]bool
}

// look reads the records of the search again. It also calls the method hopeless, which returns an error if the search
// should end because all of its first trials failed.
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

// hopeless returns an error if the first ten trials failed, or all trials if there are fewer than ten. It is then
// likely that further trials would fail, too, whatever their settings.
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

// next claims a step, and returns the step with its claim. It takes the first step that is predicted to end before the
// deadline and that no other process has claimed. If other processes have claimed all steps that can be made now, next
// waits until one of these steps is released, and claims it if it is still to be made. It returns nil if the search is
// over.
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
		// The records may be out of date: another process may have made this step since they were read. Read them
		// again.
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

// ahead is the largest number of new trials (trials without a record) that one call of the method claim goes through.
// The number must be limited, since a search without a limit on trials has new trials without end.
const ahead = 64

// claim goes through the steps that can be made now and are predicted to end before the deadline, and tries to claim
// one after the other. It stops when it has claimed one, and returns this step with its claim own. If other processes
// have claimed all of these steps, claim returns only the first of them, as the result taken.
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

// wait waits until another process releases the claim of a step, and then claims the step. It returns nil if the
// deadline comes first.
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

// wanted tells whether a step is still to be made. It looks for the step's job among the jobs that the schedule lists.
// If there is no limit on trials, this list has no end. But new trials come last in it, in the order of their numbers.
// So the loop can stop at the first new trial with a higher number than the step's trial.
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

// splits returns the splits of the search.
func (w *work) splits() []int {
	var out []int
	for _, b := range w.Graphs {
		out = append(out, b.split)
	}
	return out
}

// claimKey returns the key of a step's claim. The name of the training's checkpoint file contains this key. A training
// goes on from rung to rung, and has one checkpoint file for all rungs. Therefore the key depends on the trial and the
// split, but not on the rung.
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
