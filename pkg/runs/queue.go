package runs

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Queue hands out work that several processes share, and that the records of a store decide.
type Queue[S fmt.Stringer] struct {
	Claims Claims
	// Look reads the records again, since other processes may add some at any time.
	Look func() error
	// Open lists what can be made now, the most urgent first.
	Open func() iter.Seq2[S, error]
	// Keys returns what identifies the work, and the key of its claim.
	Keys func(S) (made, claim string)
	// Waits, if not nil, is called before the wait for another process, which makes s.
	Waits func(s S)
	// Deadline, if set, ends the wait.
	Deadline time.Time
}

// Run makes what is open, one after the other, until nothing is left or until the deadline. If other processes have
// claimed all that is open, it waits for one of them.
func (q Queue[S]) Run(ctx context.Context, make func(S, *Claim) error) error {
	for {
		next, own, err := q.next(ctx)
		if err != nil || own == nil {
			return err
		}
		err = make(next, own)
		own.Release()
		if err != nil {
			return err
		}
	}
}

func (q Queue[S]) next(ctx context.Context) (next S, own *Claim, err error) {
	if err := q.Look(); err != nil {
		return next, nil, err
	}
	for {
		next, own, err := q.claim(ctx)
		if err != nil || own == nil {
			return next, nil, err
		}
		// Another process may have made it since the records were read.
		if err = q.Look(); err == nil {
			wanted := false
			if wanted, err = q.wanted(next); wanted {
				return next, own, nil
			}
		}
		own.Release()
		if err != nil {
			return next, nil, err
		}
	}
}

func (q Queue[S]) wanted(s S) (bool, error) {
	made, _ := q.Keys(s)
	for open, err := range q.Open() {
		if err != nil {
			return false, err
		}
		if other, _ := q.Keys(open); other == made {
			return true, nil
		}
	}
	return false, nil
}

// claim claims the first that no other process has claimed, or waits for the first of all. The claim is nil if nothing
// is open, or if the deadline comes first.
func (q Queue[S]) claim(ctx context.Context) (first S, own *Claim, err error) {
	some := false
	for s, err := range q.Open() {
		if err != nil {
			return s, nil, err
		}
		_, key := q.Keys(s)
		if own, err := q.Claims.Try(key); own != nil || err != nil {
			return s, own, err
		}
		if !some {
			first, some = s, true
		}
	}
	if !some {
		return first, nil, nil
	}
	if q.Waits != nil {
		q.Waits(first)
	}
	until, stop := Until(ctx, q.Deadline)
	defer stop()
	_, key := q.Keys(first)
	own, err = q.Claims.Await(until, key)
	if until.Err() == nil {
		return first, own, err
	}
	if own != nil { // the lock came at the very end of the time
		own.Release()
	}
	if ctx.Err() != nil {
		return first, nil, fmt.Errorf("interrupted while another process made %s; all runs that ended are kept, and the "+
			"same command goes on from here", first)
	}
	return first, nil, nil
}

// Until returns a context that ends with ctx, and at the deadline at the latest, if there is one.
func Until(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline)
}
