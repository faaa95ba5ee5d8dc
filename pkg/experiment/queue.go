package experiment

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/revgnn/revgnn/pkg/results"
)

// queue is the runs that work lacks, in a store that other processes may add runs to.
type queue struct {
	*Runner
	work Work
	// Runs that failed before began are made again; those tried are not, whatever became of them.
	began time.Time
	tried map[string]bool
	// records and plan are those of the last look.
	records Records
	plan    Plan
}

// look sees what there is to do now.
func (q *queue) look() error {
	all, err := q.all()
	if err != nil {
		return err
	}
	q.records = Index(all)
	for key, r := range q.records {
		if r.Status == results.Failed && r.Started.Before(q.began) {
			delete(q.records, key)
		}
	}
	q.plan = plan(q.scope(), q.records, q.costs(all), q.work, q.Shard)
	return nil
}

// next claims the first run that no other process has claimed, and waits where others have all that are left; nil
// where none is left.
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
		// Another process may have made it since the last look.
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

// claim claims the first of some runs that is free, or waits until the first of all is.
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
