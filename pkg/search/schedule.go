package search

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
)

// Schedule says for how many epochs trials train, and which of them continue. A rung is a number of epochs after which
// trials are compared: only the best trials continue to the next rung. This is ASHA (Li et al. 2020, algorithm 2),
// except at the end of a search. There Schedule makes sure that the best trial trains in full. A rung is called closed
// once no further trial can reach it. From a closed rung at least one trial continues, even if fewer than Reduction
// trials have reached the rung. If a trial that continued from a closed rung fails or diverges, the next best trial
// continues in its place.
type Schedule struct {
	// Rungs are ascending numbers of epochs. The last one is the number of epochs of a complete training.
	Rungs []int `json:"rungs"`
	// Reduction is called eta in the paper on ASHA: of the trials that reach a rung, the share 1/Reduction continues to
	// the next rung.
	Reduction int `json:"reduction"`
	// Trials is the largest number of trials; 0 stands for no limit.
	Trials int `json:"-"`
}

// NewSchedule returns a schedule. Its last rung is epochs, the number of epochs of a complete training. The rungs
// before it are epochs divided by reduction, by the square of reduction, and so on, rounded up. Rungs below the number
// least are left out. The argument trials is the largest number of trials; 0 stands for no limit.
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

// Job is the training of a trial up to a rung, on all splits. Trial and Rung are their numbers, counted from 0.
type Job struct{ Trial, Rung int }

// Standing is what a schedule needs to know about a trial.
type Standing struct {
	// Scores has the trial's score at each rung that it has reached: its best validation metric, averaged over splits.
	// The score is minus infinity if the trial failed or diverged before it reached the rung.
	Scores []float64
	// Begun tells that the trial has reached its next rung on some of the splits, but not yet on all.
	Begun bool
}

// Bad tells whether the trial failed or diverged.
func (s Standing) Bad() bool {
	return len(s.Scores) > 0 && math.IsInf(s.Scores[len(s.Scores)-1], -1)
}

// Standings has the standings of all trials that have begun. The keys of the map are the numbers of the trials.
type Standings map[int]Standing

// Next lists the jobs to do now, the most urgent first. Jobs that have begun come first. Then come jobs of trials that
// continue to their next rung, those from higher rungs first. Among trials from the same rung, the best come first. New
// trials come last. The listed jobs do not depend on each other, so that several processes may do them at the same
// time. No jobs are listed when the search is over.
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

// promoted returns a list of trials for each rung except the last. The list has the trials that continue from this rung
// to the next, including those that have continued already. The best trials come first.
func (s Schedule) promoted(of Standings) (all [][]int) {
	closed := s.Trials > 0
	for n := 0; closed && n < s.Trials; n++ {
		closed = len(of[n].Scores) > 0
	}
	for rung := range len(s.Rungs) - 1 {
		list := s.promotedFrom(rung, of, closed)
		all = append(all, list)
		closed = closed && !slices.ContainsFunc(list, func(n int) bool { return len(of[n].Scores) <= rung+1 })
		for _, t := range of { // the next rung is not closed while a trial is on its way there
			closed = closed && !(t.Begun && len(t.Scores) <= rung+1)
		}
	}
	return all
}

// promotedFrom returns the trials that continue from one rung. Their number is 1/Reduction of the number of trials that
// have reached the rung, but at least one if the rung is closed. The best trials continue. Trials that failed or
// diverged at this rung do not continue. If the rung is closed, trials that failed or diverged at a higher rung are
// left out as well, so that others take their place.
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

// Best returns the number of the trial whose last score is best. Among equal scores, it prefers the trial at the higher
// rung, then the one with the lower number. The result ok is false if no trial went well.
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
