package experiment

import (
	"fmt"
	"math"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
)

// search chooses settings for a dataset. Each candidate is trained on the first splits. The candidate with the best
// mean validation metric is then trained on all splits. The test metric plays no part in the choice.
type search struct {
	dataset    string
	candidates []train.Config
	splits     []int
	tried      int // settings are chosen on this number of splits, the first ones
	seeds      int // the number of trainings on each split with the chosen settings
}

// seedStep is the difference between the seeds of trainings on the same split. It is larger than the number of any
// split, since the number of the split is added to the seed.
const seedStep = 1000

// Found is the result of a search.
type Found struct {
	Config train.Config
	// Tests are the test metrics of the chosen settings by split. If there are several Seeds, the metric of a split is
	// the mean over its seeds, and SeedStd is the standard deviation over seeds: the root of the mean, over splits, of
	// the sample variance over the seeds of a split. Bad says for each split with a run that diverged or failed what
	// happened; such a split is not in Tests.
	Tests   map[int]float64
	Bad     []string
	Seeds   int
	SeedStd float64
	// Splits are the splits that are wanted. Missing is the number of splits that are not run yet.
	Splits  []int
	Missing int
	// Search is the ID of the earlier search that the settings come from. If it is empty, the settings are the best of
	// Candidates candidates.
	Search     string
	Candidates int
	// Why says why there is no result; empty if there is one.
	Why string
}

// AllBad is the reason given if no candidate of a search gave a result.
const AllBad = "every setting diverged or failed"

// Search asks for the runs by which the profile chooses a model's settings on a dataset, and for those with the chosen
// settings.
func (v *View) Search(dataset, model string) (f Found) {
	p := v.Profile
	candidates, err := p.Candidates(data.Base(dataset), model)
	switch {
	case err != nil:
		return Found{Why: fmt.Sprintf("not run: profile %s: %v", p.Name, err)}
	case len(candidates) == 0:
		return Found{Why: fmt.Sprintf("not run: the profile %s has no settings for it", p.Name)}
	}
	splits := p.Splits
	before, _ := p.chosen(data.Base(dataset), model)
	if before.Splits != nil {
		splits = before.Splits
	}
	f = v.choose(dataset+" "+model, search{dataset, candidates, splits, p.Tried, max(1, before.Seeds)})
	f.Search, f.Candidates = before.Search, len(candidates)
	return f
}

// Choose asks for two sets of runs on a dataset. The first set compares the candidates, on the first splits only, as
// many as tried says. The second set runs the chosen settings on all splits. name is the name of the group of all these
// runs; see [Step].
func (v *View) Choose(name, dataset string, candidates []train.Config, splits []int, tried int) (f Found) {
	return v.choose(name, search{dataset, candidates, splits, tried, 1})
}

func (v *View) choose(name string, s search) (f Found) {
	if v.Splits != nil {
		s.splits = v.Splits
	}
	s.tried = min(s.tried, len(s.splits))
	v.Within(name, func() { f = s.run(v) })
	return f
}

func (s search) run(v *View) Found {
	best, bestVal, waiting := -1, math.Inf(-1), false
	for i, c := range s.candidates {
		var vals []float64
		for _, k := range s.splits[:s.tried] {
			a := Ask[Trained](v, Training(s.dataset, k, c))
			switch {
			case a.Record == nil && a.Why == NotYet:
				waiting = true
			case a.Record == nil:
				return Found{Why: a.Why}
			case a.OK():
				vals = append(vals, float64(a.Outcome.Val))
			}
		}
		if val := metrics.Mean(vals); len(vals) == s.tried && val > bestVal {
			best, bestVal = i, val
		}
	}
	if waiting {
		for _, k := range s.splits[s.tried:] {
			v.expect(Training(s.dataset, k, s.largest()))
		}
		return Found{Why: NotYet}
	}
	if best < 0 {
		return Found{Why: AllBad}
	}
	return s.with(v, s.candidates[best])
}

// with asks for the runs with the chosen settings c on all splits.
func (s search) with(v *View, c train.Config) Found {
	f := Found{Config: c.Resolved(), Tests: map[int]float64{}, Splits: s.splits, Seeds: s.seeds}
	var variances []float64
	for _, k := range s.splits {
		var tests []float64
		missing, bad := false, ""
		for i := range s.seeds {
			seeded := c
			seeded.Seed += uint64(i * seedStep)
			a := Ask[Trained](v, Training(s.dataset, k, seeded))
			switch {
			case a.Record == nil:
				missing = true
			case a.OK():
				tests = append(tests, float64(a.Outcome.Test))
			default:
				bad = fmt.Sprintf("split %d %s (%s)", k, a.Record.Status, a.Why)
			}
		}
		switch {
		case bad != "":
			f.Bad = append(f.Bad, bad)
		case missing:
			f.Missing++
		default:
			f.Tests[k] = metrics.Mean(tests)
			if s.seeds > 1 {
				variances = append(variances, math.Pow(metrics.SampleStd(tests), 2))
			}
		}
	}
	if len(variances) > 0 {
		f.SeedStd = math.Sqrt(metrics.Mean(variances))
	}
	if len(f.Tests) == 0 && len(f.Bad) == 0 {
		f.Why = NotYet
	}
	return f
}

// largest returns the candidate with the most work.
func (s search) largest() train.Config {
	top, most := s.candidates[0], 0.0
	for _, c := range s.candidates {
		if size := Training(s.dataset, 0, c).Size(); size > most {
			top, most = c, size
		}
	}
	return top
}

// Values returns the test metrics in percent, in the order of the splits.
func (f Found) Values() []float64 {
	var out []float64
	for _, k := range f.Splits {
		if t, ok := f.Tests[k]; ok {
			out = append(out, 100*t)
		}
	}
	return out
}

// Gains returns by how many percentage points f's test metrics are above those of plain, on the splits that both have.
func (f Found) Gains(plain Found) []float64 {
	var out []float64
	for _, k := range f.Splits {
		a, ok := f.Tests[k]
		b, too := plain.Tests[k]
		if ok && too {
			out = append(out, 100*(a-b))
		}
	}
	return out
}
