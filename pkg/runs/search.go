package runs

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
)

// search chooses among candidates for a model on a dataset: the one with the best mean validation metric on some of the
// splits is trained on all. The test metric plays no part in the choice.
type search struct {
	dataset    string
	candidates []train.Config
	splits     []int
	tried      int // the number of splits, counted from the first, on which candidates are compared
	// The number of trainings on each split if the candidate is chosen; nil stands for one.
	seeds []int
}

// seedStep is added to the seed for each further training on the same split. A training on split k draws from its seed
// plus k: since seedStep is larger than any k, no two trainings have the same sum.
const seedStep = 1000

func seeded(c train.Config, n int) train.Config {
	c.Seed += uint64(n * seedStep)
	return c
}

// Found has the chosen settings and their results on test nodes.
type Found struct {
	Config train.Config
	// Tests has the test metric of each split: the mean over its trainings. A split is left out if one of these
	// diverged, failed or is not recorded yet.
	Tests map[int]float64
	// A text for each split on which a training diverged, or failed for a reason that says nothing about the settings,
	// such as too little memory.
	Bad, Failed []string
	Seeds       int
	// SeedStd is the root of the mean, over splits, of the sample variance of the test metric over seeds; 0 for one
	// seed.
	SeedStd float64
	// Missing is the number of Splits on which a training is not recorded yet.
	Splits  []int
	Missing int
	// Only [View.Search] sets these: where the chosen settings are from ([Choice]), and the number of candidates.
	Search, Source string
	Candidates     int
	// Why says why there is no result.
	Why string

	which int // the index of the chosen settings among the candidates
}

// AllBad is [Found.Why] if each of several candidates diverged on one of the splits on which they are compared, or if
// the only one diverged on every split.
const AllBad = "every setting diverged"

// Search asks for the runs that compare the profile's candidates for a model on a dataset, and for those with the
// chosen settings on all splits.
func (v *View) Search(dataset, model string) (f Found) {
	p := v.Profile
	candidates, err := p.Candidates(data.Base(dataset), model)
	switch {
	case err != nil:
		return Found{Why: fmt.Sprintf("not run: profile %s: %v", p.Name, err)}
	case len(candidates) == 0:
		return Found{Why: fmt.Sprintf("not run: the profile %s has no settings for it", p.Name)}
	}
	it := search{dataset: dataset, candidates: candidates, splits: p.Splits, tried: p.Tried}
	it.seeds = slices.Repeat([]int{p.seeds(data.Base(dataset), model)}, len(candidates))
	chosen := p.chosen(data.Base(dataset), model)
	for i, c := range chosen { // they are the candidates, and all of them have the same splits
		it.splits, it.seeds[i] = c.Splits, c.Seeds
	}
	v.within(dataset+" "+model, &it, func() { f = it.run(v) })
	f.Candidates = len(candidates)
	if len(chosen) == 1 || len(chosen) > 1 && f.Config.Model != "" { // otherwise none is chosen yet
		f.Search, f.Source = chosen[f.which].Search, chosen[f.which].Source
	}
	return f
}

// Choose does the same for any candidates, which are compared on the first splits only. The runs form one group.
func (v *View) Choose(name, dataset string, candidates []train.Config, splits []int, tried int) (f Found) {
	s := search{dataset: dataset, candidates: candidates, splits: splits, tried: tried}
	v.within(name, &s, func() { f = s.run(v) })
	return f
}

// Expect notes trainings whose settings will be those of one of the candidates, so that a plan counts them at the cost
// of the candidate that takes the most work ([Step.Provisional]).
func (v *View) Expect(name, dataset string, candidates []train.Config, splits []int) {
	s := search{dataset: dataset, candidates: candidates, splits: splits}
	v.within(name, &s, func() { s.expect(v, 0) })
}

// within calls f in the named group, after it has replaced the splits of the search if users chose others.
func (v *View) within(name string, s *search, f func()) {
	if v.Splits != nil {
		s.splits = v.Splits
	}
	s.tried = min(s.tried, len(s.splits))
	if s.seeds == nil {
		s.seeds = slices.Repeat([]int{1}, len(s.candidates))
	}
	v.Within(name, f)
}

func (s search) run(v *View) Found {
	if len(s.candidates) == 1 {
		return s.with(v, 0)
	}
	best, bestVal, waiting, failed := -1, math.Inf(-1), false, ""
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
			case a.Record.Status == Failed:
				failed = wentWrong(k, a)
			}
		}
		if val := metrics.Mean(vals); len(vals) == s.tried && val > bestVal {
			best, bestVal = i, val
		}
	}
	if waiting {
		s.expect(v, s.tried)
		return Found{Why: NotYet}
	}
	if best < 0 {
		return Found{Why: cmp.Or(failed, AllBad)}
	}
	return s.with(v, best)
}

// with asks for the trainings of the chosen candidate i on all splits.
func (s search) with(v *View, i int) Found {
	c, seeds := s.candidates[i], s.seeds[i]
	f := Found{Config: c.Resolved(), Tests: map[int]float64{}, Splits: s.splits, Seeds: seeds, which: i}
	absent := NotYet // why there are no results, if there are none
	var variances []float64
	for _, k := range s.splits {
		var tests []float64
		missing, bad, failed := false, "", ""
		for n := range seeds {
			a := Ask[Trained](v, Training(s.dataset, k, seeded(c, n)))
			switch {
			case a.Record == nil:
				missing = true
				if a.Why != NotYet {
					absent = a.Why
				}
			case a.OK():
				tests = append(tests, float64(a.Outcome.Test))
			case a.Record.Status == Failed:
				failed = wentWrong(k, a)
			default:
				bad = wentWrong(k, a)
			}
		}
		switch {
		case bad != "":
			f.Bad = append(f.Bad, bad)
		case failed != "":
			f.Failed, absent = append(f.Failed, failed), failed
		case missing:
			f.Missing++
		default:
			f.Tests[k] = metrics.Mean(tests)
			if seeds > 1 {
				variances = append(variances, math.Pow(metrics.SampleStd(tests), 2))
			}
		}
	}
	if len(variances) > 0 {
		f.SeedStd = math.Sqrt(metrics.Mean(variances))
	}
	switch {
	case len(f.Bad) > 0 && len(f.Bad) == len(s.splits):
		f.Why = AllBad
	case len(f.Tests)+len(f.Bad) == 0:
		return Found{Why: absent}
	case len(f.Tests) == 0:
		f.Why = absent
	}
	return f
}

// wentWrong says what happened to a training on split k that ended without a result.
func wentWrong(k int, a Answer[Trained]) string {
	return fmt.Sprintf("split %d %s (%s)", k, a.Record.Status, a.Why)
}

// expect notes provisional steps, except for the trainings with the first seed on the first splits: they are made
// already to compare the candidates.
func (s search) expect(v *View, compared int) {
	i := s.largest()
	for at, k := range s.splits {
		for n := range s.seeds[i] {
			if at < compared && n == 0 {
				continue
			}
			t := Training(s.dataset, k, seeded(s.candidates[i], n))
			if v.unwanted(t.Dataset, t.Config.Model) == "" {
				v.steps = append(v.steps, Step{Task: t, Group: cmp.Or(v.group, t.Key()), Provisional: true})
			}
		}
	}
}

// largest returns the index of the candidate whose trainings take the most work ([Task.Size]).
func (s search) largest() (top int) {
	most := 0.0
	for i, c := range s.candidates {
		if size := Training(s.dataset, 0, c).Size() * float64(s.seeds[i]); size > most {
			top, most = i, size
		}
	}
	return top
}

// Values returns the test metrics in percent, in the order of [Found.Splits].
func (f Found) Values() []float64 {
	var out []float64
	for _, k := range f.Splits {
		if t, ok := f.Tests[k]; ok {
			out = append(out, 100*t)
		}
	}
	return out
}

// Gains returns f minus plain in percentage points, for each of the splits that they share.
func (f Found) Gains(plain Found) []float64 {
	var out []float64
	for _, k := range f.Shared(plain) {
		out = append(out, 100*(f.Tests[k]-plain.Tests[k]))
	}
	return out
}

// Shared returns the splits on which both have a test metric, in the order of [Found.Splits].
func (f Found) Shared(plain Found) []int {
	var out []int
	for _, k := range f.Splits {
		_, ok := f.Tests[k]
		_, too := plain.Tests[k]
		if ok && too {
			out = append(out, k)
		}
	}
	return out
}
