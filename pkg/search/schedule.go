package search

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
)

// Schedule says for how many epochs trials train, and which of them continue. A rung is a number of epochs after which
// trials are compared: only the best trials continue to the next rung. The algorithm is ASHA (Li et al. 2020, algorithm
// 2), with one addition: at the end of a search, the best trial must train in full. For this purpose, a rung is called
// closed as soon as no further trial can reach it. From a closed rung at least one trial continues, even if ASHA would
// let none continue because too few trials have reached the rung. If a trial that continued from a closed rung fails or
// diverges later, the next best trial continues in its place.
type Schedule struct {
	// Rungs are ascending numbers of epochs. The last one is the number of epochs of a complete training.
	Rungs []int `json:"rungs"`
	// Reduction says how many trials continue: of the trials that reach a rung, the share 1/Reduction continues to the
	// next rung. The paper on ASHA calls this number eta.
	Reduction int `json:"reduction"`
	// Trials is the largest number of trials; 0 stands for no limit.
	Trials int `json:"-"`
}

// NewSchedule returns a schedule. The argument epochs is the number of epochs of a complete training, which is the last
// rung. The other rungs are epochs divided by reduction, by the square of reduction, and so on, rounded up. Those below
// the number least are left out. For example, epochs 270, least 10 and reduction 3 give the rungs 10, 30, 90 and 270.
// The argument trials is the largest number of trials; 0 stands for no limit.
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

// Job is the training of a trial up to a rung, on all splits. Trial is the number of the trial, and Rung is the number
// of the rung. Both are counted from 0.
type Job struct{ Trial, Rung int }

// Standing is what a schedule needs to know about a trial.
type Standing struct {
	// Scores has a score for each rung that the trial has reached, in the order of the rungs: the best validation
	// metric so far, averaged over splits. If the trial failed or diverged on the way to a rung, its score at this rung
	// is minus infinity, and there are no further scores.
	Scores []float64
	// Begun tells that the job to the trial's next rung has begun: it is done on some of the splits, but not yet on
	// all.
	Begun bool
}

// Bad tells whether the trial failed or diverged.
func (s Standing) Bad() bool {
	return len(s.Scores) > 0 && math.IsInf(s.Scores[len(s.Scores)-1], -1)
}

// Standings has the standings of all trials that have begun. The keys of the map are the numbers of the trials.
type Standings map[int]Standing

// Next lists the jobs to do now, the most urgent first. Jobs that are done on some splits, but not on all, come first.
// Jobs that train a trial from one rung to the next come second. Among these, jobs to a higher rung come before jobs to
// a lower rung. Of two jobs to the same rung, the job of the better trial comes first. Jobs of new trials come last.
// The listed jobs do not depend on each other, so that several processes may do them at the same time. When the search
// is over, no jobs are listed.
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

// promoted returns a list of trials for each rung except the last. The list of a rung has the trials that continue from
// this rung to the next, including those that have continued already. The best trials come first.
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

// promotedFrom returns the trials that continue from one rung. These are the best of the trials that have reached the
// rung: the share 1/Reduction of them, rounded down. Trials that failed or diverged at this rung do not continue. The
// argument closed tells that no further trial can reach the rung. In this case at least one trial continues, and trials
// that failed or diverged at a higher rung are left out as well: the next best trials continue in their place.
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

// Best returns the number of the trial with the best last score. If several trials have this score, Best returns the
// one at the highest rung. If several of these are at the same rung, it returns the one with the lowest number. The
// result ok is false if all trials failed or diverged.
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
