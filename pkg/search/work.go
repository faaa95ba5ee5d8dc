package search

import (
	"fmt"
	"iter"
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

// look reads the records of the search again. It returns an error if the first ten trials failed, or all if there are
// fewer: further ones would probably fail, too.
func (w *work) look() (err error) {
	if w.known, err = read(w.Store, w.id, w.began); err != nil {
		return err
	}
	if w.costs == nil {
		if w.costs, err = newCosts(w.Store, w.Engine.Name); err != nil {
			return err
		}
	}
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

// ahead is the largest number of new trials in open: without a limit on trials they have no end.
const ahead = 64

// open lists the steps that can be made now and are predicted to end before the deadline.
func (w *work) open() iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		fresh := 0
		for job := range w.Schedule.Next(w.known.standings(w.splits())) {
			if _, begun := w.known[job.Trial]; !begun {
				if fresh++; fresh > ahead {
					return
				}
			}
			sample, err := w.sampler.Trial(job.Trial)
			if err != nil {
				yield(Step{}, err)
				return
			}
			for _, k := range w.splits() {
				if _, done := w.known.of(job, k); done {
					continue
				}
				s := Step{job, k, w.Schedule.Rungs[job.Rung], sample}
				if !w.fits(s) {
					break
				}
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}

// queue hands out the steps.
func (w *work) queue() runs.Queue[Step] {
	return runs.Queue[Step]{Claims: w.claims, Look: w.look, Open: w.open, Waits: w.Waits, Deadline: w.Deadline,
		Keys: func(s Step) (made, claim string) { return w.key(s), w.claimKey(s) }}
}

func (w *work) splits() []int {
	var out []int
	for _, b := range w.Graphs {
		out = append(out, b.split)
	}
	return out
}

// key is the key of a step's record.
func (w *work) key(s Step) string {
	return keyOf(map[string]any{"search": w.id, "trial": s.Trial, "rung": s.Rung, "split": s.Split})
}

// claimKey does not depend on the rung: a training goes on from rung to rung with one checkpoint.
func (w *work) claimKey(s Step) string {
	return keyOf(map[string]any{"search": w.id, "trial": s.Trial, "split": s.Split})
}

func keyOf(definition map[string]any) string {
	key, err := runs.Key(definition)
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
