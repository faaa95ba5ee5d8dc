package paper

import (
	"fmt"
	"math"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
)

// search is the choice of a model's settings for a dataset: each candidate is trained on the first splits, that of the best
// mean validation metric is chosen, and trained on the rest. The test metric plays no part in it.
type search struct {
	dataset, model string
	candidates     []train.Config
	splits         []int
	tried          int // the first of splits, that settings are chosen on
}

// found is what a search came to.
type found struct {
	config train.Config
	// tests are the test metrics by split, of the runs with the chosen settings that went well; bad says of the others what
	// happened.
	tests map[int]float64
	bad   []string
	// splits wanted, and those of them that are not run yet.
	splits  []int
	missing int
	// why there is nothing; empty where there is something.
	why string
}

// search asks for what the profile wants to run of a model on a dataset.
func (v *View) search(dataset, model string) (f found) {
	p := v.Profile
	s := search{dataset, model, p.Candidates(dataset, model), p.Splits, p.Tried}
	if len(s.candidates) == 0 {
		return found{why: fmt.Sprintf("not run: the profile %s has no settings for it", p.Name)}
	}
	if v.Splits != nil {
		s.splits, s.tried = v.Splits, min(s.tried, len(v.Splits))
	}
	v.within(dataset+" "+model, func() { f = s.run(v) })
	return f
}

func (s search) run(v *View) found {
	best, bestVal, waiting, why := -1, math.Inf(-1), false, "every setting diverged or failed"
	for i, c := range s.candidates {
		var vals []float64
		for _, k := range s.splits[:s.tried] {
			a := ask[Trained](v, training(s.dataset, k, c))
			switch {
			case a.Record == nil && a.Why == notYet:
				waiting = true
			case a.Record == nil:
				return found{why: a.Why}
			case a.ok():
				vals = append(vals, float64(a.Outcome.Val))
			}
		}
		if val := metrics.Mean(vals); len(vals) == s.tried && val > bestVal {
			best, bestVal = i, val
		}
	}
	if waiting {
		for _, k := range s.splits[s.tried:] {
			v.expect(training(s.dataset, k, s.dearest()))
		}
		return found{why: notYet}
	}
	if best < 0 {
		return found{why: why}
	}
	f := found{config: s.candidates[best].Resolved(), tests: map[int]float64{}, splits: s.splits}
	for _, k := range s.splits {
		a := ask[Trained](v, training(s.dataset, k, s.candidates[best]))
		switch {
		case a.Record == nil:
			f.missing++
		case a.ok():
			f.tests[k] = float64(a.Outcome.Test)
		default:
			f.bad = append(f.bad, fmt.Sprintf("split %d %s (%s)", k, a.Record.Status, a.Why))
		}
	}
	if len(f.tests) == 0 && len(f.bad) == 0 {
		f.why = notYet
	}
	return f
}

// dearest is the candidate that costs most.
func (s search) dearest() train.Config {
	top, most := s.candidates[0], 0.0
	for _, c := range s.candidates {
		if cost := seconds(training(s.dataset, 0, c)); cost > most {
			top, most = c, cost
		}
	}
	return top
}

// values are the tests in percent, in the order of the splits.
func (f found) values() []float64 {
	var out []float64
	for _, k := range f.splits {
		if t, ok := f.tests[k]; ok {
			out = append(out, 100*t)
		}
	}
	return out
}

// gains are the differences in percent to another model on the splits that both have.
func (f found) gains(plain found) []float64 {
	var out []float64
	for _, k := range f.splits {
		a, ok := f.tests[k]
		b, too := plain.tests[k]
		if ok && too {
			out = append(out, 100*(a-b))
		}
	}
	return out
}
