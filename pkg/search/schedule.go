package search

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
)

// Schedule says for how many epochs trials train, and which of them continue: ASHA (Li et al. 2020, algorithm 2), with
// one addition, so that the best trial trains in full at the end. A rung that no further trial can reach is closed, and
// at least one trial continues from it, even if ASHA would let none. If that one goes wrong later, the next best
// continues.
type Schedule struct {
	// Rungs are ascending numbers of epochs. The last one is a complete training.
	Rungs []int `json:"rungs"`
	// Of the trials that reach a rung, the share 1/Reduction continues. The paper calls this number eta.
	Reduction int `json:"reduction"`
	// Trials is the largest number of trials; 0 stands for no limit.
	Trials int `json:"-"`
}

// NewSchedule returns a schedule with the rungs epochs, epochs/reduction, epochs/reduction² and so on, rounded up, as
// far as they are not below least: 270, 10 and 3 give 10, 30, 90 and 270.
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

// Job is the training of a trial up to a rung, on all splits. Both count from 0.
type Job struct{ Trial, Rung int }

type Standing struct {
	// Scores are those at the rungs that it has reached. If the trial went wrong, the last one is minus infinity.
	Scores []float64
	// Begun tells that the job to the next rung is done on some of the splits.
	Begun bool
}

func (s Standing) Bad() bool {
	return len(s.Scores) > 0 && math.IsInf(s.Scores[len(s.Scores)-1], -1)
}

type Standings map[int]Standing

// Next lists the jobs to do now, which do not depend on each other: first those that are done on some splits, then
// those from one rung to the next, to the highest rung and of the best trial first, and then new trials. When the
// search is over, there are none.
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

// promoted returns for each rung but the last the trials that continue from it, also those that have, the best first.
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

// promotedFrom returns the trials that continue from a rung: the best 1/Reduction, rounded down, without those that
// went wrong there. From a closed rung at least one continues, and those that went wrong higher up do not count.
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

// Best returns the trial with the best last score; of several the one at the highest rung, and then the first.
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
