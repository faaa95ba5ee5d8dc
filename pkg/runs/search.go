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

// search chooses among candidates for a model on a dataset: the one with the best mean validation metric on the first
// splits is trained on all. The test metric plays no part in the choice.
type search struct {
	dataset    string
	candidates []candidate
	splits     []int
	tried      int // the number of splits on which candidates are compared
}

type candidate struct {
	train.Config
	// seeds is the number of trainings on each split if it is chosen.
	seeds int
	// Where the settings are from: see [Choice].
	search, source string
}

func plainly(configs []train.Config, seeds int) (out []candidate) {
	for _, c := range configs {
		out = append(out, candidate{Config: c, seeds: seeds})
	}
	return out
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
	// Where the chosen settings are from ([Choice]), and the number of candidates: of [View.Search] alone.
	Search, Source string
	Candidates     int
	Why            string
}

// AllBad is [Found.Why] if each of several candidates diverged on one of the splits on which they are compared, or if
// the only one diverged on every split.
const AllBad = "every setting diverged"

// Search asks for the runs that compare the profile's candidates for a model on a dataset, and for those with the
// chosen settings on all splits.
func (v *View) Search(dataset, model string) Found {
	p := v.Profile
	candidates, splits, err := p.candidates(data.Base(dataset), model)
	switch {
	case err != nil:
		return Found{Why: fmt.Sprintf("not run: profile %s: %v", p.Name, err)}
	case len(candidates) == 0:
		return Found{Why: fmt.Sprintf("not run: the profile %s has no settings for it", p.Name)}
	}
	f := v.choose(dataset+" "+model, v.among(dataset, candidates, splits, p.Tried))
	f.Candidates = len(candidates)
	return f
}

// Choose does the same for any candidates, which are compared on the first splits only. The runs form one group.
func (v *View) Choose(name, dataset string, candidates []train.Config, splits []int, tried int) Found {
	return v.choose(name, v.among(dataset, plainly(candidates, 1), splits, tried))
}

// choose runs each search once: claims ask for the same cells again and again.
func (v *View) choose(name string, s search) Found {
	key := fmt.Sprint(name, s)
	known, has := v.chosen[key]
	if !has {
		known.used = v.Used(func() { v.Within(name, func() { known.Found = s.run(v) }) })
		v.chosen[key] = known
	}
	v.use(known.used...)
	return known.Found
}

// Expect notes trainings whose settings will be those of one of the candidates, so that a plan counts them at the cost
// of the candidate that takes the most work ([Step.Provisional]).
func (v *View) Expect(name, dataset string, candidates []train.Config, splits []int) {
	s := v.among(dataset, plainly(candidates, 1), splits, 0)
	v.Within(name, func() { s.expect(v, 0) })
}

// among returns a search on the splits that users chose, or else on the given ones.
func (v *View) among(dataset string, candidates []candidate, splits []int, tried int) search {
	if v.Splits != nil {
		splits = v.Splits
	}
	return search{dataset, candidates, splits, min(tried, len(splits))}
}

func (s search) run(v *View) Found {
	if len(s.candidates) == 1 {
		return s.with(v, s.candidates[0])
	}
	best, bestVal, waiting, failed := -1, math.Inf(-1), false, ""
	for i, c := range s.candidates {
		var vals []float64
		for _, k := range s.splits[:s.tried] {
			a := Ask[Trained](v, Training(s.dataset, k, c.Config))
			switch {
			case a.Record == nil && a.Why == NotYet:
				waiting = true
			case a.Record == nil:
				return Found{Why: a.Why}
			case a.OK():
				vals = append(vals, metrics.Named(a.Outcome.Metric).Gain(float64(a.Outcome.Val)))
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
	return s.with(v, s.candidates[best])
}

func (s search) with(v *View, c candidate) Found {
	f := Found{Config: c.Resolved(), Tests: map[int]float64{}, Splits: s.splits, Seeds: c.seeds, Search: c.search,
		Source: c.source}
	absent := NotYet // why there are no results, if there are none
	var variances []float64
	for _, k := range s.splits {
		var tests []float64
		missing, bad, failed := false, "", ""
		for n := range c.seeds {
			a := Ask[Trained](v, Training(s.dataset, k, seeded(c.Config, n)))
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
			if c.seeds > 1 {
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
		none := Found{Why: absent}
		if len(s.candidates) == 1 { // otherwise none is chosen yet
			none.Search, none.Source = c.search, c.source
		}
		return none
	case len(f.Tests) == 0:
		f.Why = absent
	}
	return f
}

func wentWrong(k int, a Answer[Trained]) string {
	return fmt.Sprintf("split %d %s (%s)", k, a.Record.Status, a.Why)
}

// expect notes provisional steps, except for the trainings with the first seed on the first splits: they are made
// already to compare the candidates.
func (s search) expect(v *View, compared int) {
	most := slices.MaxFunc(s.candidates, func(a, b candidate) int {
		return cmp.Compare(s.work(a), s.work(b))
	})
	for at, k := range s.splits {
		for n := range most.seeds {
			if at < compared && n == 0 {
				continue
			}
			t := Training(s.dataset, k, seeded(most.Config, n))
			if v.unwanted(t.Dataset, t.Config.Model) == "" {
				v.steps = append(v.steps, Step{Task: t, Group: cmp.Or(v.group, t.Key()), Provisional: true})
			}
		}
	}
}

func (s search) work(c candidate) float64 {
	return Training(s.dataset, 0, c.Config).Size() * float64(c.seeds)
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
