package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// placeCheck takes the models of a table that were run on a dataset, and counts those whose test results are better
// than those of one model, the field Model. Each is compared with Model on the splits that both were trained on, since
// other splits may be easier. Our rank of Model is this number plus one. The check compares it with the published rank,
// which Places has for each dataset. If fewer than Rows models were run on the dataset, the verdict is NotRun.
// Otherwise the verdict depends on our rank:
//   - If our rank is equal to the published rank or better, the verdict is Reproduced. But models that were not run
//     might rank higher than Model. If they could push Model below its published rank, the verdict is only Weaker.
//   - If our rank is worse, a paired test at the level Significance compares Model with the model that stands, in our
//     results, where Model should stand: if the paper ranks Model second, with the model that has the second largest
//     lead over Model. The verdict is Weaker if the test finds no significant difference, and NotReproduced otherwise.
//
// If Model has fewer than Seeds trainings on each split, the verdict is NotRun. The other models may have fewer.
type placeCheck struct {
	Table        string         `json:"table"`
	Model        string         `json:"model"`
	Places       map[string]int `json:"places"`
	Rows         int            `json:"rows"`
	Significance float64        `json:"significance"`
	Seeds        int            `json:"seeds"`
}

// rowOf returns an error unless the table has a row for the model.
func rowOf(table, model string) error {
	if published[Performance](table).row(model) == nil {
		return fmt.Errorf("%s has no model %q", table, model)
	}
	return nil
}

func (c placeCheck) problem() error {
	if err := enoughSeeds(c.Seeds); err != nil {
		return err
	}
	if err := tableOf(c.Table); err != nil {
		return err
	}
	if err := rowOf(c.Table, c.Model); err != nil {
		return err
	}
	for dataset, place := range c.Places {
		if published[Performance](c.Table).column(dataset) < 0 || place < 1 || place > c.Rows {
			return fmt.Errorf("place %d of %d rows on %q: give places from 1 on datasets of %s", place, c.Rows, dataset,
				c.Table)
		}
	}
	return between("significance", c.Significance)
}

func (c placeCheck) cases(v *View) (all []claimCase) {
	p := published[Performance](c.Table)
	for _, dataset := range p.Columns {
		place, has := c.Places[dataset]
		if !has {
			continue
		}
		all = append(all, claimCase{model: c.Model, dataset: dataset, theirs: fmt.Sprint(place),
			judge: func() finding { return c.judge(v, p, dataset, place) }})
	}
	return all
}

func (c placeCheck) judge(v *View, p *Performance, dataset string, place int) finding {
	tests, absent, beaten := map[string]experiment.Found{}, []string{}, 0
	for _, row := range p.Rows {
		switch f := v.cellOf(row, dataset); {
		case len(f.Values()) >= leastPairs:
			tests[row.Model] = f
		case row.Model == c.Model && f.Why == experiment.AllBad:
			return noNumbers(failedRuns+f.Why, float64(place))
		case row.Model == c.Model:
			return notRun(cmp.Or(f.Why, "fewer than "+count(leastPairs, "split")+" with a result"))
		case f.Why == experiment.AllBad: // a model of which all runs diverged ranks below the others
			beaten++
		default:
			absent = append(absent, row.Name)
		}
	}
	if run := len(tests) + beaten; run < c.Rows {
		return notRun(fmt.Sprintf("%s run, a verdict needs %d", count(run, "model"), c.Rows))
	}
	own := tests[c.Model]
	delete(tests, c.Model)
	gains, ahead, compared := map[string][]float64{}, []string{}, 1+beaten
	for rival, f := range tests {
		gains[rival] = own.Gains(f)
		if len(gains[rival]) < leastPairs {
			absent = append(absent, p.row(rival).Name)
			continue
		}
		if compared++; metrics.Mean(gains[rival]) < 0 {
			ahead = append(ahead, rival)
		}
	}
	slices.Sort(absent)
	slices.SortFunc(ahead, func(a, b string) int {
		return cmp.Or(cmp.Compare(metrics.Mean(gains[a]), metrics.Mean(gains[b])), strings.Compare(a, b))
	})
	at := len(ahead) + 1
	f := found(Reproduced, float64(at), float64(place), "place %d of %d with %s", at, compared,
		spread(own.Values())).withoutFailed(own.Bad)
	if len(absent) > 0 { // each absent row might rank higher than the model
		f.numbers += fmt.Sprintf(", without %s of the paper's %d rows", strings.Join(absent, ", "), len(p.Rows))
	}
	if n := own.Seeds; n < c.Seeds {
		f.verdict = NotRun
		f.numbers += fewSeeds(n, c.Seeds)
		return f
	}
	switch {
	case at+len(absent) <= place:
		return f
	case at <= place:
		f.verdict = Weaker
		f.numbers += fmt.Sprintf(", so that it may be %d", at+len(absent))
		return f
	}
	rival := ahead[place-1]
	f.p, f.splits = pairedT(gains[rival]), own.Shared(tests[rival])
	f.numbers += fmt.Sprintf("; in place %d %s with %s: %+.2f on the %s of both, %s", place, titleOf(rival),
		spread(tests[rival].Values()), metrics.Mean(gains[rival]), count(len(f.splits), "split"),
		probability(gains[rival]))
	if f.verdict = Weaker; f.p < c.Significance {
		f.verdict = NotReproduced
	}
	if math.IsNaN(f.p) {
		return notRun(f.numbers)
	}
	return f
}
