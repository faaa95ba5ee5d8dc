package runs

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// queue finds the runs that a [Work] still needs. Other processes may add records to the same store at any time.
type queue struct {
	*Runner
	work Work
	// The field began is the time at which [Runner.Run] was called. Runs that failed before this time are made again.
	// The field tried has the keys of the runs that this process has made after this time. These runs are not made
	// again, even if they failed.
	began time.Time
	tried map[string]bool
	// The method look sets the fields records and plan.
	records Records
	plan    Plan
}

// look reads the records of the store, and plans the runs that are left.
func (q *queue) look() error {
	all, err := q.all()
	if err != nil {
		return err
	}
	q.records = Index(all)
	q.records.forgetFailed(q.began)
	q.plan = plan(q.scope(), q.records, q.costs(all), q.work, q.Shard)
	return nil
}

// next claims the run that this process makes next, and returns the run and the claim. It chooses the first run that is
// left and that no other process has claimed. If other processes have claimed all runs that are left, next waits until
// the claim of one of these runs is released, and then chooses again. If no run is left, next returns nil.
func (q *queue) next(ctx context.Context) (*Step, *Claim, error) {
	if err := q.look(); err != nil {
		return nil, nil, err
	}
	for {
		open := q.plan.open(q.tried)
		if len(open) == 0 {
			return nil, nil, nil
		}
		step, own, err := q.claim(ctx, open)
		if err != nil {
			return nil, nil, err
		}
		// Another process may have made this run since the records were read. The records are therefore read again.
		if err := q.look(); err != nil {
			own.Release()
			return nil, nil, err
		}
		if slices.ContainsFunc(q.plan.open(q.tried), func(s Step) bool { return s.Key == step.Key }) {
			return &step, own, nil
		}
		own.Release()
	}
}

// claim claims a run of the list open: the first run that no other process has claimed. If other processes have claimed
// all runs of the list, claim waits until the claim of the first run is released, and then claims this run.
func (q *queue) claim(ctx context.Context, open []Step) (Step, *Claim, error) {
	c := ClaimsOf(q.Store)
	for _, s := range open {
		if own, err := c.Try(s.Key); own != nil || err != nil {
			return s, own, err
		}
	}
	if q.Waits != nil {
		q.Waits(open[0].Task)
	}
	own, err := c.Await(ctx, open[0].Key)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("interrupted while another process made %s; all runs that ended are kept, and the same command "+
			"goes on from here", open[0].Task)
	}
	return open[0], own, err
}
