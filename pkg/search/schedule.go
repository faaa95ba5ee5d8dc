package search

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
)

// Schedule says how far trials train, and which go on. It is plain ASHA (Li et al. 2020, algorithm 2) but for its end.
// Once all trials have come to a rung that ever will, it is closed. From a closed rung at least one trial goes on,
// however few there are, and where one of those that went on goes wrong, the next best does so in its place. So the
// best always trains in full.
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
		for rung, promoted := range slices.Backward(s.promoted(of)) {
			for _, n := range promoted {
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

// promoted are, for each rung but the last, the trials that go on from it, or have, the best first.
func (s Schedule) promoted(of Standings) (all [][]int) {
	closed := s.Trials > 0
	for n := 0; closed && n < s.Trials; n++ {
		closed = len(of[n].Scores) > 0
	}
	for rung := range len(s.Rungs) - 1 {
		list := s.promotedFrom(rung, of, closed)
		all = append(all, list)
		closed = closed && !slices.ContainsFunc(list, func(n int) bool { return len(of[n].Scores) <= rung+1 })
		for _, t := range of { // one that is on its way to the next rung, and not among the best any more
			closed = closed && !(t.Begun && len(t.Scores) <= rung+1)
		}
	}
	return all
}

// promotedFrom are those of one rung, which is closed or not. A share of all that came there goes on, the best, where
// those that went wrong count as the worst: there, or, where no others will come, anywhere by now.
func (s Schedule) promotedFrom(rung int, of Standings, closed bool) []int {
	var there []int
	for n, t := range of {
		if len(t.Scores) > rung {
			there = append(there, n)
		}
	}
	quota := len(there) / s.Reduction
	if closed {
		quota = max(1, quota)
	}
	there = slices.DeleteFunc(there, func(n int) bool {
		return math.IsInf(of[n].Scores[rung], -1) || closed && of[n].Bad()
	})
	slices.SortFunc(there, func(a, b int) int {
		return cmp.Or(cmp.Compare(of[b].Scores[rung], of[a].Scores[rung]), cmp.Compare(a, b))
	})
	return there[:min(quota, len(there))]
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
