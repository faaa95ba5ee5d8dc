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

// search chooses among candidates for a model on a dataset. Each candidate is trained on some of the splits. The
// candidate with the best mean validation metric is then trained on all splits. The test metric plays no part in the
// choice.
type search struct {
	dataset    string
	candidates []train.Config
	splits     []int
	tried      int // the number of splits, counted from the first, on which candidates are compared
	// seeds has, for each candidate, the number of trainings on each split if this candidate is chosen. If seeds is
	// nil, there is one training on each split. Candidates are compared with the first seed only.
	seeds []int
}

// seedStep is added to the seed for each further training with the chosen settings on the same split. (A training on
// split k draws its random numbers from its seed plus k. Since seedStep is larger than any k, no two of the trainings
// have the same sum.)
const seedStep = 1000

// seeded returns settings c with the seed of training number n on a split. Training 0 has the seed of c.
func seeded(c train.Config, n int) train.Config {
	c.Seed += uint64(n * seedStep)
	return c
}

// Found is the result of [View.Search] and [View.Choose]: the chosen settings, in the field Config, and their results
// on test nodes.
type Found struct {
	Config train.Config
	// Tests has the test metric of the chosen settings for each split: the mean over the trainings on this split. A
	// split is left out if one of these trainings diverged, failed or is not recorded yet.
	Tests map[int]float64
	// Bad has a text for each split on which a training diverged. The text says what happened. Failed has a text for
	// each split on which a training failed for a reason that says nothing about the settings, such as too little
	// memory.
	Bad, Failed []string
	// Seeds is the number of trainings with the chosen settings on each split. Each of them has a different seed.
	Seeds int
	// SeedStd is the standard deviation of the test metric over seeds. It is computed in three steps: the sample
	// variance over the seeds of each split, the mean of these variances, and the square root of this mean. If there is
	// only one seed, SeedStd is 0.
	SeedStd float64
	// Splits are the splits on which the chosen settings are to be trained. Missing is the number of those splits on
	// which a training is not recorded yet.
	Splits  []int
	Missing int
	// The settings in a profile may come from a search that the command "revgnn search" made earlier. Search is then
	// the ID of this search (see package search). Otherwise Search is empty. Source is [Choice.Source] of the chosen
	// settings. Both are empty if there are several candidates and none is chosen yet. Candidates is the number of
	// candidates that the profile has for the model on the dataset. Only [View.Search] sets these three fields.
	Search, Source string
	Candidates     int
	// Why says why there is no result; it is empty if there is a result.
	Why string

	which int // the index of the chosen settings among the candidates
}

// AllBad is the text of [Found.Why] if there are several candidates, and each of them diverged on at least one of the
// splits on which candidates are compared. So none can be chosen. If there is only one candidate, nothing is compared,
// and AllBad says that it diverged on every split.
const AllBad = "every setting diverged"

// Search asks for two sets of runs of a model on a dataset. The runs of the first set compare the profile's candidates.
// The runs of the second set train the model with the chosen settings, on all splits.
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
	f = v.choose(dataset+" "+model, it)
	f.Candidates = len(candidates)
	if len(chosen) == 1 || len(chosen) > 1 && f.Config.Model != "" { // otherwise none is chosen yet
		f.Search, f.Source = chosen[f.which].Search, chosen[f.which].Source
	}
	return f
}

// Choose asks for two sets of runs on a dataset. The runs of the first set compare the candidates, but only on the
// splits in splits[:tried]. The runs of the second set train with the chosen settings, on all splits. The runs of both
// sets form one group, which has the given name; see [Step].
func (v *View) Choose(name, dataset string, candidates []train.Config, splits []int, tried int) (f Found) {
	return v.choose(name, search{dataset: dataset, candidates: candidates, splits: splits, tried: tried})
}

func (v *View) choose(name string, s search) (f Found) {
	v.within(name, &s, func() { f = s.run(v) })
	return f
}

// Expect notes that a training on each of the splits will be needed, but that its settings are not chosen yet. They
// will be those of one of the candidates. So a plan of the runs counts these trainings, at the cost of the candidate
// that takes the most work; see [Step.Provisional]. The trainings form a group, which has the given name.
func (v *View) Expect(name, dataset string, candidates []train.Config, splits []int) {
	s := search{dataset: dataset, candidates: candidates, splits: splits}
	v.within(name, &s, func() { s.expect(v, 0) })
}

// within calls f for a search whose tasks form a group of the given name. Before that, it replaces the splits of the
// search if users chose others.
func (v *View) within(name string, s *search, f func()) {
	if v.Splits != nil {
		s.splits = v.Splits
	}
	s.tried = min(s.tried, len(s.splits))
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

// with asks for the trainings of candidate i, which is chosen, on all splits, and returns their results.
func (s search) with(v *View, i int) Found {
	c, seeds := s.candidates[i], s.seedsOf(i)
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

// seedsOf returns the number of trainings on each split if candidate i is chosen.
func (s search) seedsOf(i int) int {
	if s.seeds == nil {
		return 1
	}
	return s.seeds[i]
}

// expect notes a provisional step for each training with the settings that will be chosen. It leaves out the trainings
// with the first seed on the first splits, since these are already made to compare the candidates. The argument
// compared is the number of these splits.
func (s search) expect(v *View, compared int) {
	i := s.largest()
	for at, k := range s.splits {
		for n := range s.seedsOf(i) {
			if at < compared && n == 0 {
				continue
			}
			v.expect(Training(s.dataset, k, seeded(s.candidates[i], n)))
		}
	}
}

// largest returns the index of the candidate whose trainings on a split take the most work ([Task.Size]).
func (s search) largest() (top int) {
	most := 0.0
	for i, c := range s.candidates {
		if size := Training(s.dataset, 0, c).Size() * float64(s.seedsOf(i)); size > most {
			top, most = i, size
		}
	}
	return top
}

// Values returns the test metrics of all splits that have one. They are in percent, in the order of [Found.Splits].
func (f Found) Values() []float64 {
	var out []float64
	for _, k := range f.Splits {
		if t, ok := f.Tests[k]; ok {
			out = append(out, 100*t)
		}
	}
	return out
}

// Gains returns the difference f.Tests[k] - plain.Tests[k], in percentage points, for each split k in f.Shared(plain).
func (f Found) Gains(plain Found) []float64 {
	var out []float64
	for _, k := range f.Shared(plain) {
		out = append(out, 100*(f.Tests[k]-plain.Tests[k]))
	}
	return out
}

// Shared returns the splits on which both f and plain have a test metric, in the order of [Found.Splits].
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
