package search

import (
	"context"
	"fmt"
	"time"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/results"
)

// work is the state of [Search.Run] while it runs in this process.
type work struct {
	*Search
	id      string
	sampler *Sampler
	claims  experiment.Claims
	// began is the time at which Run was called. Trials that failed before this time are made again.
	began time.Time
	// known has the outcomes of the trials; the method look reads them from the records. costs predicts how long steps
	// take.
	known known
	costs *costs
	// late has the jobs that were stopped because they would have missed the deadline. They are not begun again.
	late map[Job]bool
}

// look reads the records of the search again. It returns an error if the first trials have all failed, so that the
// search should end (see the method hopeless).
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

// hopeless returns an error if the first ten trials (or all trials, if there are fewer) failed. The cause is then
// probably not in the settings that were drawn.
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

// next claims the next step to be made, and returns it: the first step that no other process has claimed, if there is
// enough time left for it. If other processes have claimed all steps that can be made now, next waits for one of these
// steps. It returns nil if the search is over.
func (w *work) next(ctx context.Context) (*Step, *experiment.Claim, error) {
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

// ahead is the largest number of trials without any record that one call of the method claim tries to claim.
const ahead = 64

// claim tries to claim the steps that can be made now, one after the other, until it has claimed one. If other
// processes have claimed all of these steps, the result taken is the first of them.
func (w *work) claim() (step *Step, own *experiment.Claim, taken *Step, err error) {
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
func (w *work) wait(ctx context.Context, s Step) (*experiment.Claim, error) {
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
	switch {
	case ctx.Err() != nil:
		if own != nil {
			own.Release()
		}
		return nil, fmt.Errorf("interrupted while another process made %s; the same command goes on from here", s)
	case until.Err() != nil:
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

// wanted tells whether a step is still to be made. If there is no limit on trials, the schedule lists new trials
// without end. They come last, in the order of their numbers. Therefore the loop can stop at the first new trial whose
// number is higher than that of the step's trial.
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

// claimKey returns the key by which the training of a trial on a split is claimed. It is the same for all rungs, since
// the training has one checkpoint for all of them.
func (w *work) claimKey(s Step) string {
	key, err := results.Key(map[string]any{"search": w.id, "trial": s.Trial, "split": s.Split})
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
	return left > 0 && !w.late[s.Job] && w.costs.seconds(w.Dataset, s, w.known) <= left
}
