package search

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
)

// Schedule says how far trials train, and which go on. It is plain ASHA (Li et al. 2020, algorithm 2), with an end:
// of a rung that no further trial can come to, at least one goes on, so that the best always trains in full.
type Schedule struct {
	// Rungs are numbers of epochs, ascending; the last is that of a whole training.
	Rungs []int `json:"rungs"`
	// Reduction is eta: one of so many trials goes on from a rung to the next.
	Reduction int `json:"reduction"`
	// Trials are at most so many; 0: without an end.
	Trials int `json:"-"`
}

// NewSchedule has rungs from a number of epochs down to the last, by the reduction, that is not below least.
func NewSchedule(epochs, least, reduction, trials int) Schedule {
	s := Schedule{Reduction: reduction, Trials: trials}
	for share := 1; ; share *= reduction {
		at := (epochs + share - 1) / share
		if len(s.Rungs) > 0 && (at < least || at >= s.Rungs[0]) {
			return s
		}
		s.Rungs = slices.Insert(s.Rungs, 0, at)
	}
}

// Job is a trial to train until a rung.
type Job struct{ Trial, Rung int }

// Standing is what is known of a trial.
type Standing struct {
	// Scores are the validation metrics at the rungs that it has come to; minus infinity where it failed.
	Scores []float64
	// Begun tells that it is known in part at the next rung.
	Begun bool
}

// Bad tells whether the trial failed.
func (s Standing) Bad() bool {
	return len(s.Scores) > 0 && math.IsInf(s.Scores[len(s.Scores)-1], -1)
}

// Standings are those of trials that have begun, by their numbers.
type Standings map[int]Standing

// Next are the jobs that are to be done now, the most urgent first: to end what has begun, to have trials go on, from
// the highest rung down and the best of each first, and to begin a trial. They may be done at the same time. None
// is left when the search is over.
func (s Schedule) Next(of Standings) iter.Seq[Job] {
	return func(yield func(Job) bool) {
		for _, n := range slices.Sorted(maps.Keys(of)) {
			if of[n].Begun && !yield(Job{n, len(of[n].Scores)}) {
				return
			}
		}
		for rung := len(s.Rungs) - 2; rung >= 0; rung-- {
			for _, n := range s.promoted(of, rung) {
				if t := of[n]; len(t.Scores) == rung+1 && !t.Begun && !yield(Job{n, rung + 1}) {
					return
				}
			}
		}
		for n := 0; s.Trials == 0 || n < s.Trials; n++ {
			if _, begun := of[n]; !begun && !yield(Job{n, 0}) {
				return
			}
		}
	}
}

// promoted are the trials that go on from a rung, or have, the best first.
func (s Schedule) promoted(of Standings, rung int) []int {
	var there []int
	for n, t := range of {
		if len(t.Scores) > rung {
			there = append(there, n)
		}
	}
	slices.SortFunc(there, func(a, b int) int {
		return cmp.Or(cmp.Compare(of[b].Scores[rung], of[a].Scores[rung]), cmp.Compare(a, b))
	})
	quota := len(there) / s.Reduction
	if quota == 0 && s.closed(of, rung) {
		quota = min(1, len(there))
	}
	return slices.DeleteFunc(there[:quota], func(n int) bool { return math.IsInf(of[n].Scores[rung], -1) })
}

// closed tells whether no further trial can come to a rung.
func (s Schedule) closed(of Standings, rung int) bool {
	if s.Trials == 0 {
		return false
	}
	if rung == 0 {
		for n := range s.Trials {
			if len(of[n].Scores) == 0 {
				return false
			}
		}
		return true
	}
	for _, t := range of {
		if t.Begun && len(t.Scores) <= rung {
			return false
		}
	}
	for _, n := range s.promoted(of, rung-1) {
		if len(of[n].Scores) <= rung {
			return false
		}
	}
	return s.closed(of, rung-1)
}

// Best is the trial of the best last score, of equal ones that of the higher rung, then the first; false where none
// has gone well.
func (of Standings) Best() (trial int, ok bool) {
	var good []int
	for n, t := range of {
		if len(t.Scores) > 0 && !t.Bad() {
			good = append(good, n)
		}
	}
	if len(good) == 0 {
		return 0, false
	}
	return slices.MinFunc(good, func(a, b int) int {
		x, y := of[a].Scores, of[b].Scores
		return cmp.Or(cmp.Compare(y[len(y)-1], x[len(x)-1]), cmp.Compare(len(y), len(x)), cmp.Compare(a, b))
	}), true
}
