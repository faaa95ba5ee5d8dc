package paper

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// placeCheck takes the models of a table that were run on a dataset, and ranks them by our test results. It compares
// the rank of one model, the field Model, with the published rank of this model. Places has the published rank for each
// dataset. If fewer than Rows models were run on the dataset, the verdict is NotRun. Otherwise the verdict depends on
// our rank:
//   - If our rank is equal to the published rank or better, the verdict is Reproduced. But models that were not run
//     might rank higher than Model. If they could push Model below its published rank, the verdict is only Weaker.
//   - If our rank is worse, a paired test at the level Significance compares Model with the model that stands, in our
//     results, where Model should stand: if the paper ranks Model second, with our second best model. The verdict is
//     Weaker if the test finds no significant difference, and NotReproduced otherwise.
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
			return found(NotReproduced, math.NaN(), float64(place), "%s", f.Why)
		case row.Model == c.Model:
			return notRun(cmp.Or(f.Why, "fewer than "+count(leastPairs, "split")+" with a result"))
		case f.Why == experiment.AllBad: // a model of which all runs failed ranks below the others
			beaten++
		default:
			absent = append(absent, row.Name)
		}
	}
	if run := len(tests) + beaten; run < c.Rows {
		return notRun(fmt.Sprintf("%s run, a verdict needs %d", count(run, "model"), c.Rows))
	}
	byMean := slices.SortedFunc(maps.Keys(tests), func(a, b string) int {
		switch x, y := mean(tests[a]), mean(tests[b]); {
		case x > y || x == y && a == c.Model:
			return -1
		case x < y || b == c.Model:
			return 1
		}
		return 0
	})
	at := slices.Index(byMean, c.Model) + 1
	f := found(Reproduced, float64(at), float64(place), "place %d of %d with %s", at, len(tests)+beaten,
		spread(tests[c.Model].Values())).withoutFailed(tests[c.Model].Bad)
	if len(absent) > 0 { // each absent row might rank higher than the model
		f.numbers += fmt.Sprintf(", without %s of the paper's %d rows", strings.Join(absent, ", "), len(p.Rows))
	}
	if n := tests[c.Model].Seeds; n < c.Seeds {
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
	rival := byMean[place-1]
	gains := tests[c.Model].Gains(tests[rival])
	f.p = pairedT(gains)
	f.numbers += fmt.Sprintf("; in place %d %s with %s: %+.2f, %s", place, titleOf(rival),
		spread(tests[rival].Values()), metrics.Mean(gains), probability(gains))
	if f.verdict = Weaker; f.p < c.Significance {
		f.verdict = NotReproduced
	}
	if math.IsNaN(f.p) {
		return notRun(f.numbers)
	}
	return f
}
