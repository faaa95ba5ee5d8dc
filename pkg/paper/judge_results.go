package paper

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/runs"
)

// cellCases makes a case for each cell of a table: our mean may be so many published standard deviations away.
func cellCases(v *View, r rule) (all []claimCase) {
	p := published[Performance](r.Table)
	for _, row := range p.Rows {
		for k, dataset := range p.Columns {
			all = append(all, claimCase{model: row.Model, dataset: dataset,
				theirs: values{"paper": row.Cells[k].Mean, "std": row.Cells[k].Std},
				judge:  func() finding { return r.cell(v.cellOf(row, dataset), row, k) }})
		}
	}
	return all
}

// cellOf returns our result for the model of a table's row, on class-balanced splits if the row was published for such.
func (v *View) cellOf(row PerformanceRow, dataset string) runs.Found {
	if _, err := models.Lookup(row.Model); err != nil {
		return runs.Found{Why: "revgnn does not have this model"}
	}
	if row.Balanced {
		dataset += data.Balanced
	}
	return v.Search(dataset, row.Model)
}

func (r rule) cell(f runs.Found, row PerformanceRow, k int) finding {
	paper, std, ours := row.Cells[k].Mean, row.std(k), f.Values()
	switch {
	case f.Why == runs.AllBad:
		out := found(NotReproduced, math.NaN(), paper, values{"why": reasons(f)})
		out.degree = Below
		return out
	case len(ours) == 0:
		return notRun(reasons(f))
	case len(ours)+len(f.Bad) < leastPairs:
		return notRun(strings.Join(append([]string{count(len(ours), "split") + " run, too few for a verdict"},
			f.Failed...), "; "))
	}
	mean := metrics.Mean(ours)
	apart := (mean - paper) / std
	say := values{"mean": mean, "spread": metrics.SampleStd(ours), "apart": mean - paper,
		"distance": r.distance(math.Abs(apart))}
	if row.Balanced {
		say["balanced"] = true
	}
	if row.Interval {
		say["from_interval"] = std
	}
	if row.Layers != nil {
		say["depth"], say["paper_depth"] = f.Config.Depth(), fmt.Sprintf("%d/%d", row.Layers[k][0], row.Layers[k][1])
	}
	if f.Seeds > 1 {
		say["seed_std"] = 100 * f.SeedStd
	}
	if f.Search != "" || f.Source != "" {
		say["settings"] = chosenBy(f)
	}
	if f.Missing > 0 {
		say["missing"], say["all"] = count(f.Missing, "split"), len(f.Splits)
	}
	say.list("failed", f.Failed)
	out := found(limited(math.Abs(apart), r.Reproduced, r.Weaker), mean, paper, say).withoutFailed(f.Bad)
	out.degree, out.splits = degree(out.verdict, apart), f.Shared(f)
	return out
}

// list sets a value to the texts, unless there are none.
func (v values) list(name string, texts []string) {
	if len(texts) > 0 {
		v[name] = strings.Join(texts, ", ")
	}
}

// distance writes a distance with one digit after the point, or more if the rounded one would get another verdict.
func (r rule) distance(apart float64) (text string) {
	for digits := 1; digits <= 4; digits++ {
		text = strconv.FormatFloat(apart, 'f', digits, 64)
		shown, _ := strconv.ParseFloat(text, 64)
		if limited(shown, r.Reproduced, r.Weaker) == limited(apart, r.Reproduced, r.Weaker) {
			break
		}
	}
	return text
}

// degree says how far our mean is from the published mean, from the verdict and the signed distance.
func degree(v Verdict, apart float64) string {
	switch {
	case v == Reproduced:
		return WithinOne
	case v == Weaker:
		return WithinTwo
	case apart < 0:
		return Below
	}
	return Above
}

// failedRuns begins the reason why there is no result if a run of the model diverged. The verdict is then
// NotReproduced; for any other reason, such as too little memory, it is NotRun.
const failedRuns = "diverged: "

// pair has the rows of a model with a reverse process and of its plain backbone.
type pair struct{ with, plain PerformanceRow }

// pairs returns a pair for each model in a table that has a reverse process and published gains.
func pairs(p *Performance) (all []pair) {
	for _, row := range p.Rows {
		if plain := p.plain(row); plain != nil && row.Delta != nil {
			all = append(all, pair{row, *plain})
		}
	}
	return all
}

// gains returns our gain on each split, or why there are none, or too few for a verdict. If the model with the reverse
// process diverged on any split there are none: those on the other splits alone would look too good.
func (v *View) gains(p pair, dataset string) (gains []float64, why string) {
	with, plain := v.cellOf(p.with, dataset), v.cellOf(p.plain, dataset)
	gains = with.Gains(plain)
	switch {
	case len(with.Bad) > 0:
		return nil, failedRuns + strings.Join(with.Bad, ", ")
	case with.Why == runs.AllBad:
		return nil, failedRuns + with.Why
	case len(gains) >= leastPairs:
		return gains, ""
	case len(gains) > 0:
		return nil, count(len(gains), "split") + " run with and without, too few for a verdict"
	case with.Why != "":
		return nil, with.Why
	case plain.Why != "":
		return nil, "the backbone: " + plain.Why
	}
	return nil, "no splits that went well with and without"
}

// gainCases tests every published gain. Ours must have its direction, be at least Share of it, and be significant; it
// is Weaker with one of the last two. If neither holds, but the confidence interval of our gain includes that share,
// the splits are too few to decide.
func gainCases(v *View, r rule) []claimCase {
	return v.differences(r, func(gains []float64, paper float64) Verdict {
		along, enough := metrics.Mean(gains)*math.Copysign(1, paper), r.Share*math.Abs(paper)
		size, certain := along >= enough, pairedT(gains) < r.Significance
		verdict := graded(along > 0 && size && certain, along > 0 && (size || certain))
		if verdict == NotReproduced && along+halfInterval(gains, 1-r.Significance) >= enough {
			return NotRun
		}
		return verdict
	})
}

// unchangedCases tests that a reverse process changes the test metric by Points at most, and not significantly.
// NotReproduced is only a larger and significant loss.
func unchangedCases(v *View, r rule) []claimCase {
	return v.differences(r, func(gains []float64, _ float64) Verdict {
		mean := metrics.Mean(gains)
		small, certain := math.Abs(mean) <= r.Points, pairedT(gains) < r.Significance
		return graded(small && !certain, small || !certain || mean >= 0)
	})
}

// differences makes a case for each gain that a table prints. With fewer than r.Seeds seeds on each split, the verdict
// is NotRun and decide is not called.
func (v *View) differences(r rule, decide func(gains []float64, paper float64) Verdict) (all []claimCase) {
	p := published[Performance](r.Table)
	for _, pair := range pairs(p) {
		for k, dataset := range p.Columns {
			all = append(all, claimCase{model: pair.with.Model, dataset: dataset,
				theirs: values{"paper": pair.with.Delta[k]},
				judge:  func() finding { return v.difference(r, pair, k, dataset, decide) }})
		}
	}
	return all
}

func (v *View) difference(r rule, p pair, k int, dataset string,
	decide func(gains []float64, paper float64) Verdict) finding {

	paper := p.with.Delta[k]
	gains, why := v.gains(p, dataset)
	with, plain := v.cellOf(p.with, dataset), v.cellOf(p.plain, dataset)
	n := min(with.Seeds, plain.Seeds)
	if diverged, has := strings.CutPrefix(why, failedRuns); has && with.Seeds > 0 && n < r.Seeds {
		f := notRun(diverged)
		if plain.Seeds == 0 {
			f.say["backbone"] = plain.Why
		} else {
			f.say["few_seeds"] = count(n, "seed")
		}
		return f
	}
	if why != "" {
		return noNumbers(why, paper)
	}
	mean := metrics.Mean(gains)
	f := found(NotRun, mean, paper, values{"mean": mean, "spread": metrics.SampleStd(gains), "p": probability(gains)})
	f.p, f.splits = pairedT(gains), with.Shared(plain)
	if n < r.Seeds {
		f.say["few_seeds"] = count(n, "seed")
	} else if f.verdict = decide(gains, paper); f.verdict == NotRun {
		f.say["few_splits"] = count(len(gains), "split")
	}
	f.say.list("failed", slices.Concat(with.Failed, plain.Failed))
	f.say.list("backbone_diverged", plain.Bad)
	return f
}

// standing summarises the gains of one model over the datasets on which it was run: on how many its mean gain is
// positive, for how many there are gains (on the others its runs diverged), and the average of the mean gains.
type standing struct {
	model              string
	ahead, run, gained int
	mean               float64
}

// standings returns a summary for each model with a reverse process in a table, with its values for clauses. If common
// is true, all summaries cover the datasets for which each of these models has gains; otherwise a model whose runs
// diverged on a dataset counts as not ahead there. The result ok is true if each covers r.Least datasets.
func (v *View) standings(r rule, common bool) (all []standing, say values, ok bool) {
	p := published[Performance](r.Table)
	backbones := pairs(p)
	all = make([]standing, len(backbones))
	for _, dataset := range p.Columns {
		means, run, failed := make([]float64, len(backbones)), make([]bool, len(backbones)), make([]bool, len(backbones))
		for i, pair := range backbones {
			gains, why := v.gains(pair, dataset)
			means[i], run[i], failed[i] = metrics.Mean(gains), why == "", strings.HasPrefix(why, failedRuns)
		}
		for i := range backbones {
			switch a := &all[i]; {
			case failed[i] && !common:
				a.run++
			case run[i] && (!common || !slices.Contains(run, false)):
				if a.run++; means[i] > 0 {
					a.ahead++
				}
				a.gained++
				a.mean += (means[i] - a.mean) / float64(a.gained)
			}
		}
	}
	ok = true
	var each []values
	for i, pair := range backbones {
		a := &all[i]
		a.model = pair.with.Model
		ok = ok && a.run >= r.Least
		one := values{"model": titleOf(a.model), "ahead": a.ahead, "run": a.run}
		if a.gained > 0 {
			one["mean"] = a.mean
		}
		if failed := a.run - a.gained; failed > 0 {
			one["diverged"] = failed
		}
		each = append(each, one)
	}
	say = values{"each": each}
	if !ok {
		say["too_few"] = true
	}
	return all, say, ok
}

// mostCases tests that the reverse process improves each backbone on more than half of its datasets. It is Weaker if it
// does so for more than half of all pairs of a backbone and a dataset.
func mostCases(v *View, r rule) []claimCase {
	return []claimCase{{judge: func() finding {
		all, say, ok := v.standings(r, false)
		if !ok {
			return found(NotRun, math.NaN(), math.NaN(), say)
		}
		each, ahead, run := true, 0, 0
		for _, a := range all {
			each = each && 2*a.ahead > a.run
			ahead, run = ahead+a.ahead, run+a.run
		}
		return found(graded(each, 2*ahead > run), math.NaN(), math.NaN(), say)
	}}}
}

// largestCases tests that no model has a larger average gain than Model, and none has gains on more datasets. It is
// Weaker if only one of the two holds.
func largestCases(v *View, r rule) []claimCase {
	return []claimCase{{model: r.Model, judge: func() finding {
		all, say, ok := v.standings(r, true)
		if !ok {
			return found(NotRun, math.NaN(), math.NaN(), say)
		}
		own := all[slices.IndexFunc(all, func(a standing) bool { return a.model == r.Model })]
		size, consistent := own.mean > 0, own.ahead > 0
		for _, a := range all {
			size, consistent = size && own.mean >= a.mean, consistent && own.ahead >= a.ahead
		}
		return found(graded(size && consistent, size || consistent), own.mean, math.NaN(), say)
	}}}
}

// placeCases compares our rank of Model on a dataset with the published rank. Our rank is one more than the number of
// models that are better on the splits that both were trained on, since other splits may be easier. A better rank is
// Reproduced, but Weaker if models that were not run could make it worse than published. For a worse rank, a paired
// test compares Model with the model that stands where Model should: without a significant difference it is Weaker.
func placeCases(v *View, r rule) (all []claimCase) {
	p := published[Performance](r.Table)
	for _, dataset := range p.Columns {
		if place, has := r.Places[dataset]; has {
			all = append(all, claimCase{model: r.Model, dataset: dataset, theirs: values{"place": place},
				judge: func() finding { return r.place(v, p, dataset, place) }})
		}
	}
	return all
}

func (r rule) place(v *View, p *Performance, dataset string, place int) finding {
	tests, absent, beaten := map[string]runs.Found{}, []string{}, 0
	for _, row := range p.Rows {
		switch f := v.cellOf(row, dataset); {
		case len(f.Values()) >= leastPairs:
			tests[row.Model] = f
		case row.Model == r.Model && f.Why == runs.AllBad:
			return noNumbers(failedRuns+f.Why, float64(place))
		case row.Model == r.Model:
			return notRun(cmp.Or(f.Why, "fewer than "+count(leastPairs, "split")+" with a result"))
		case f.Why == runs.AllBad: // a model of which all runs diverged ranks below the others
			beaten++
		default:
			absent = append(absent, row.Name)
		}
	}
	if run := len(tests) + beaten; run < r.Rows {
		return notRun(fmt.Sprintf("%s run, a verdict needs %d", count(run, "model"), r.Rows))
	}
	own := tests[r.Model]
	delete(tests, r.Model)
	gains, ahead, compared := map[string][]float64{}, []string{}, 1+beaten
	for _, rival := range slices.Sorted(maps.Keys(tests)) {
		gains[rival] = own.Gains(tests[rival])
		if len(gains[rival]) < leastPairs {
			absent = append(absent, p.row(rival).Name)
			continue
		}
		if compared++; metrics.Mean(gains[rival]) < 0 {
			ahead = append(ahead, rival)
		}
	}
	slices.Sort(absent)
	slices.SortStableFunc(ahead, func(a, b string) int {
		return cmp.Compare(metrics.Mean(gains[a]), metrics.Mean(gains[b]))
	})
	at := len(ahead) + 1
	f := found(Reproduced, float64(at), float64(place), values{"at": at, "of": compared,
		"mean": metrics.Mean(own.Values()), "spread": metrics.SampleStd(own.Values())}).withoutFailed(own.Bad)
	if f.say.list("absent", absent); len(absent) > 0 { // each absent row might rank higher than the model
		f.say["all"] = len(p.Rows)
	}
	if own.Seeds < r.Seeds {
		f.verdict, f.say["few_seeds"] = NotRun, count(own.Seeds, "seed")
		return f
	}
	if at <= place {
		if at+len(absent) > place {
			f.verdict, f.say["worst"] = Weaker, at+len(absent)
		}
		return f
	}
	rival := ahead[place-1]
	theirs := tests[rival].Values()
	f.p, f.splits = pairedT(gains[rival]), own.Shared(tests[rival])
	maps.Copy(f.say, values{"rival": titleOf(rival), "rival_mean": metrics.Mean(theirs),
		"rival_spread": metrics.SampleStd(theirs), "difference": metrics.Mean(gains[rival]),
		"shared": count(len(f.splits), "split"), "p": probability(gains[rival])})
	if math.IsNaN(f.p) {
		return found(NotRun, math.NaN(), math.NaN(), f.say)
	}
	f.verdict = graded(false, f.p >= r.Significance)
	return f
}
