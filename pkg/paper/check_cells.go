package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
)

// cellCheck compares every cell of a table with our result. It divides the distance between our mean and the published
// mean by the published standard deviation. If this ratio is at most the limit Reproduced, the verdict is Reproduced.
// If the ratio is at most the larger limit Weaker, the verdict is Weaker.
type cellCheck struct {
	Table      string  `json:"table"`
	Reproduced float64 `json:"reproduced"`
	Weaker     float64 `json:"weaker"`
}

func (c cellCheck) problem() error {
	if err := inOrder(c.Reproduced, c.Weaker); err != nil {
		return err
	}
	return tableOf(c.Table)
}

func (c cellCheck) cases(v *View) (all []claimCase) {
	p := published[Performance](c.Table)
	for _, row := range p.Rows {
		for k, dataset := range p.Columns {
			theirs := row.Cells[k]
			all = append(all, claimCase{model: row.Model, dataset: dataset,
				theirs: fmt.Sprintf("%.2f ± %.2f", theirs.Mean, theirs.Std),
				judge:  func() finding { return c.judge(v.cellOf(row, dataset), row, k) }})
		}
	}
	return all
}

// cellOf returns our result for the model of a table's row on a dataset. If the row was published for class-balanced
// splits (with equally many training nodes of each class), our result is on class-balanced splits, too.
func (v *View) cellOf(row PerformanceRow, dataset string) experiment.Found {
	if _, err := models.Lookup(row.Model); err != nil {
		return experiment.Found{Why: "revgnn does not have this model"}
	}
	if row.Balanced {
		dataset += data.Balanced
	}
	return v.Search(dataset, row.Model)
}

// distance formats the distance of our mean from the published mean, in published standard deviations. It has one digit
// after the point, or more if the rounded distance would be on the other side of a limit of the check.
func (c cellCheck) distance(apart float64) (text string) {
	verdict := limited(apart, c.Reproduced, c.Weaker)
	for digits := 1; digits <= 4; digits++ {
		text = strconv.FormatFloat(apart, 'f', digits, 64)
		if shown, _ := strconv.ParseFloat(text, 64); limited(shown, c.Reproduced, c.Weaker) == verdict {
			break
		}
	}
	return text
}

// judge compares our result f with the published mean and standard deviation in column k of the row.
func (c cellCheck) judge(f experiment.Found, row PerformanceRow, k int) finding {
	mean, std := row.Cells[k].Mean, row.Cells[k].Std
	ours := f.Values()
	switch {
	case f.Why == experiment.AllBad:
		out := found(NotReproduced, math.NaN(), mean, "%s", reasons(f))
		out.degree = Below
		return out
	case len(ours) == 0:
		return notRun(reasons(f))
	case len(ours)+len(f.Bad) < leastPairs:
		why := []string{count(len(ours), "split") + " run, too few for a verdict"}
		return notRun(strings.Join(append(why, f.Failed...), "; "))
	}
	text, theirs := spread(ours), fmt.Sprintf("%.2f ± %.2f", mean, std)
	if row.Balanced {
		text += " on class-balanced splits"
	}
	if row.Interval {
		theirs += fmt.Sprintf(" (std %.2f)", row.std(k))
	}
	if row.Layers != nil {
		text += fmt.Sprintf(" with %s layers", f.Config.Depth())
		theirs += fmt.Sprintf(" with %d/%d", row.Layers[k][0], row.Layers[k][1])
	}
	at := metrics.Mean(ours)
	apart := (at - mean) / row.std(k)
	out := found(limited(math.Abs(apart), c.Reproduced, c.Weaker), at, mean, "%s, paper %s: %+.2f (%s std)", text,
		theirs, at-mean, c.distance(math.Abs(apart))).withoutFailed(f.Bad)
	out.degree, out.splits = degree(out.verdict, apart), f.Shared(f)
	if f.Seeds > 1 {
		out.numbers += fmt.Sprintf("; seeds on the same split differ by ±%.2f", 100*f.SeedStd)
	}
	if f.Search != "" || f.Source != "" {
		out.numbers += "; settings: " + chosenBy(f)
	}
	if f.Missing > 0 {
		out.numbers += fmt.Sprintf("; %s of %d not run yet", count(f.Missing, "split"), len(f.Splits))
	}
	if len(f.Failed) > 0 {
		out.numbers += "; without a result: " + strings.Join(f.Failed, ", ")
	}
	return out
}

// degree says how far our mean is from the published mean of a cell: [WithinOne], [WithinTwo], [Below] or [Above]. The
// argument v is the verdict on the cell. The argument apart is our mean minus the published mean, divided by the
// published standard deviation.
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

// spread returns the mean and the sample standard deviation of the values as text, such as "93.05 ± 0.42".
func spread(values []float64) string {
	return fmt.Sprintf("%.2f ± %.2f", metrics.Mean(values), metrics.SampleStd(values))
}

// failedRuns is a prefix of a reason why there is no result. The reason has this prefix if a run of the model that a
// claim is about diverged. The verdict is then NotReproduced, and NotRun for any other reason. A run that failed
// because of the machine, for example of too little memory, is such another reason.
const failedRuns = "diverged: "

// pair has two rows of the same table: the row of a model with a reverse process, and the row of its plain backbone.
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

// gains returns our gains on a dataset, one for each split. The pair p has the rows of the model with the reverse
// process and of its plain backbone. If there are no gains, or too few for a verdict, the result called why gives the
// reason. If a run of the model with the reverse process diverged on any split, gains returns no gains: those on the
// other splits alone would look too good.
func (v *View) gains(p pair, dataset string) (gains []float64, why string) {
	with, plain := v.cellOf(p.with, dataset), v.cellOf(p.plain, dataset)
	gains = with.Gains(plain)
	switch {
	case len(with.Bad) > 0:
		return nil, failedRuns + strings.Join(with.Bad, ", ")
	case with.Why == experiment.AllBad:
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
