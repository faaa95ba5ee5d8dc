package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/metrics"
)

// gainCheck tests every gain that a table prints. If our mean gain has the same sign as the published gain, the verdict
// depends on two conditions:
//   - the absolute value of our mean gain is at least Share times that of the published gain;
//   - by a paired test, our gains are significant at the level Significance.
//
// The verdict is Reproduced if both conditions hold, and Weaker if only one of them holds. If neither holds, or if the
// signs differ, a confidence interval for the true mean gain decides, at the level 1 - Significance. If no gain in the
// interval would meet the first condition, the verdict is NotReproduced. Otherwise there are too few runs to tell, and
// the verdict is NotRun. It is also NotRun if a model has fewer than Seeds trainings on each split.
type gainCheck struct {
	Table        string  `json:"table"`
	Significance float64 `json:"significance"`
	Share        float64 `json:"share"`
	Seeds        int     `json:"seeds"`
}

func (c gainCheck) problem() error {
	if err := enoughSeeds(c.Seeds); err != nil {
		return err
	}
	if err := between("significance", c.Significance); err != nil {
		return err
	}
	if err := between("share", c.Share); err != nil {
		return err
	}
	return tableOf(c.Table)
}

func (c gainCheck) cases(v *View) (all []claimCase) {
	return differences(v, c.Table, c.Seeds, func(gains []float64, paper float64) Verdict {
		along := metrics.Mean(gains) * math.Copysign(1, paper)
		enough := c.Share * math.Abs(paper)
		size, certain := along >= enough, pairedT(gains) < c.Significance
		switch {
		case along > 0 && size && certain:
			return Reproduced
		case along > 0 && (size || certain):
			return Weaker
		case along+halfInterval(gains, 1-c.Significance) >= enough:
			return NotRun
		}
		return NotReproduced
	})
}

// enoughSeeds returns an error unless n, the least number of seeds that a verdict needs, is at least 1.
func enoughSeeds(n int) error {
	if n < 1 {
		return fmt.Errorf("seeds is %d: give the number of trainings on each split that a verdict needs, 1 or more", n)
	}
	return nil
}

// differences makes a case for each gain that a table prints. The function decide returns the verdict on a case. Its
// argument gains has our gains, one for each split. Its argument paper is the published gain. If one of the two models
// has fewer than the given number of seeds on each split, the verdict is NotRun, and decide is not called.
func differences(v *View, table string, seeds int, decide func(gains []float64, paper float64) Verdict) (
	all []claimCase) {

	p := published[Performance](table)
	for _, pair := range pairs(p) {
		for k, dataset := range p.Columns {
			paper := pair.with.Delta[k]
			all = append(all, claimCase{model: pair.with.Model, dataset: dataset, theirs: fmt.Sprintf("%+.2f", paper),
				judge: func() finding {
					gains, why := v.gains(pair, dataset)
					with, plain := v.cellOf(pair.with, dataset), v.cellOf(pair.plain, dataset)
					n := min(with.Seeds, plain.Seeds)
					switch {
					case strings.HasPrefix(why, failedRuns) && with.Seeds > 0 && plain.Seeds == 0:
						return notRun(why[len(failedRuns):] + "; the backbone: " + plain.Why)
					case strings.HasPrefix(why, failedRuns) && with.Seeds > 0 && n < seeds:
						return notRun(why[len(failedRuns):] + fewSeeds(n, seeds))
					case why != "":
						return noNumbers(why, paper)
					}
					mean := metrics.Mean(gains)
					f := found(NotRun, mean, paper, "%+.2f ± %.2f, paper %+.2f; %s", mean, metrics.SampleStd(gains), paper,
						probability(gains))
					f.p, f.splits = pairedT(gains), with.Shared(plain)
					if n < seeds {
						f.numbers += fewSeeds(n, seeds)
					} else if f.verdict = decide(gains, paper); f.verdict == NotRun {
						f.numbers += fmt.Sprintf("; %s are too few to decide", count(len(gains), "split"))
					}
					if failed := slices.Concat(with.Failed, plain.Failed); len(failed) > 0 {
						f.numbers += "; without a result: " + strings.Join(failed, ", ")
					}
					if len(plain.Bad) > 0 {
						f.numbers += "; without splits on which the backbone diverged: " + strings.Join(plain.Bad, ", ")
					}
					return f
				}})
		}
	}
	return all
}

// fewSeeds says that n seeds on each split are too few for a verdict, which needs the number called least.
func fewSeeds(n, least int) string {
	return fmt.Sprintf("; too few to decide with %s on each split, since a verdict needs %d", count(n, "seed"), least)
}

// unchanged tests that a reverse process does not change the test metric, or at least does no harm. There are two
// conditions:
//   - the mean gain is between -Points and Points;
//   - by a paired test, the gains are not significant at the level Significance.
//
// The verdict is Reproduced if both conditions hold. It is NotReproduced if neither holds and the mean gain is
// negative. In all other cases it is Weaker: the change is small, or not significant, or to the better. If a model has
// fewer than Seeds trainings on each split, the verdict is NotRun.
type unchanged struct {
	Table        string  `json:"table"`
	Points       float64 `json:"points"`
	Significance float64 `json:"significance"`
	Seeds        int     `json:"seeds"`
}

func (c unchanged) problem() error {
	if err := enoughSeeds(c.Seeds); err != nil {
		return err
	}
	if !(c.Points > 0) {
		return fmt.Errorf("points is %g: give the largest difference that counts as none, above 0", c.Points)
	}
	if err := between("significance", c.Significance); err != nil {
		return err
	}
	return tableOf(c.Table)
}

func (c unchanged) cases(v *View) []claimCase {
	return differences(v, c.Table, c.Seeds, func(gains []float64, _ float64) Verdict {
		mean := metrics.Mean(gains)
		small, certain := math.Abs(mean) <= c.Points, pairedT(gains) < c.Significance
		switch {
		case small && !certain:
			return Reproduced
		case !small && certain && mean < 0:
			return NotReproduced
		}
		return Weaker
	})
}

// ahead summarises the gains of one model with a reverse process over the datasets on which it was run:
//   - run is the number of these datasets;
//   - ahead is the number of these datasets on which the mean gain is positive;
//   - gained is the number of these datasets for which [View.gains] returns gains; on the others, its runs diverged;
//   - mean is the average of the mean gains over the datasets with gains.
type ahead struct {
	model              string
	ahead, run, gained int
	mean               float64
}

// standing returns a summary (see [ahead]) for each model with a reverse process in a table. If common is false, the
// summary of a model covers all datasets on which this model was run. These include the datasets on which its runs
// diverged: the model counts as not ahead there. If common is true, all summaries cover the same datasets: those for
// which every one of these models has gains. The result called ok is true if each summary covers enough datasets. The
// argument called least is the smallest number that is enough.
func (v *View) standing(table string, least int, common bool) (all []ahead, ok bool) {
	p := published[Performance](table)
	backbones := pairs(p)
	all = make([]ahead, len(backbones))
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
	for i, pair := range backbones {
		all[i].model = pair.with.Model
		ok = ok && all[i].run >= least
	}
	return all, ok
}

// words returns the summaries of all models as text, such as "ahead: GCN+ReP on 4 of 7 datasets (+1.20 on average)".
func words(all []ahead) string {
	var parts []string
	for _, a := range all {
		text := fmt.Sprintf("%s on %d of %d datasets", titleOf(a.model), a.ahead, a.run)
		if a.gained > 0 {
			text += fmt.Sprintf(" (%+.2f on average)", a.mean)
		}
		if failed := a.run - a.gained; failed > 0 {
			text += fmt.Sprintf(" (runs diverged on %d)", failed)
		}
		parts = append(parts, text)
	}
	return "ahead: " + strings.Join(parts, ", ")
}

// mostAhead tests that the reverse process improves each backbone on more than half of the datasets. If this holds for
// every backbone, the verdict is Reproduced. Otherwise the check counts all pairs of a backbone and a dataset. If the
// mean gain is positive for more than half of these pairs, the verdict is Weaker. If a backbone was run on fewer than
// Least datasets, the verdict is NotRun.
type mostAhead struct {
	Table string `json:"table"`
	Least int    `json:"least"`
}

func (c mostAhead) problem() error { return atLeast(c.Table, c.Least) }

// atLeast checks two parameters. It returns an error unless table is the name of a table of test results, and least is
// at least 1. The parameter least is the number of datasets that a verdict needs.
func atLeast(table string, least int) error {
	if least < 1 {
		return fmt.Errorf("least is %d: give the number of datasets that a verdict needs", least)
	}
	return tableOf(table)
}

func (c mostAhead) cases(v *View) []claimCase {
	return []claimCase{{judge: func() finding {
		all, ok := v.standing(c.Table, c.Least, false)
		if !ok {
			return notRun(fmt.Sprintf("a verdict needs %d datasets of each backbone; %s", c.Least, words(all)))
		}
		each, in, of := true, 0, 0
		for _, a := range all {
			each = each && 2*a.ahead > a.run
			in, of = in+a.ahead, of+a.run
		}
		verdict := NotReproduced
		switch {
		case each:
			verdict = Reproduced
		case 2*in > of:
			verdict = Weaker
		}
		return found(verdict, math.NaN(), math.NaN(), "%s", words(all))
	}}}
}

// largestGain tests that the reverse process improves no backbone more than the backbone of Model. The check takes only
// datasets for which all models with a reverse process have gains ([View.gains]). There are two conditions:
//   - the average gain of Model is positive, and no other model has a larger average gain;
//   - the gain of Model is positive on at least one dataset, and no other model has positive gains on more datasets.
//
// The verdict is Reproduced if both conditions hold, and Weaker if only one of them holds. If there are fewer than
// Least of these datasets, the verdict is NotRun.
type largestGain struct {
	Table string `json:"table"`
	Model string `json:"model"`
	Least int    `json:"least"`
}

func (c largestGain) problem() error {
	if err := atLeast(c.Table, c.Least); err != nil {
		return err
	}
	return rowOf(c.Table, c.Model)
}

func (c largestGain) cases(v *View) []claimCase {
	return []claimCase{{model: c.Model, judge: func() finding {
		all, ok := v.standing(c.Table, c.Least, true)
		if !ok {
			return notRun(fmt.Sprintf("a verdict needs %d datasets with gains of all backbones; %s", c.Least, words(all)))
		}
		var own ahead
		for _, a := range all {
			if a.model == c.Model {
				own = a
			}
		}
		size, consistent := own.mean > 0, own.ahead > 0
		for _, a := range all {
			size, consistent = size && own.mean >= a.mean, consistent && own.ahead >= a.ahead
		}
		verdict := NotReproduced
		switch {
		case size && consistent:
			verdict = Reproduced
		case size || consistent:
			verdict = Weaker
		}
		return found(verdict, own.mean, math.NaN(), "%s", words(all))
	}}}
}
