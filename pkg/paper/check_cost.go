package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// lineCheck tests that the times in figure 6 lie on a straight line. It computes R², the share of the variance of the
// times that the line explains. If R² is at least the limit Reproduced, the verdict is Reproduced. If R² is at least
// the smaller limit Weaker, the verdict is Weaker. If the line does not rise, the verdict is always NotReproduced.
type lineCheck struct {
	Reproduced float64 `json:"reproduced"`
	Weaker     float64 `json:"weaker"`
}

func (c lineCheck) problem() error {
	if err := between("reproduced", c.Reproduced); err != nil {
		return err
	}
	return inOrder(c.Weaker, c.Reproduced)
}

func (c lineCheck) cases(v *View) (all []claimCase) {
	for _, curve := range v.Profile.RunTime.Curves {
		all = append(all, claimCase{model: curve.Model.Model, dataset: curve.Dataset,
			aspect: count(curve.Model.Forward, "forward layer"),
			judge:  func() finding { return c.judge(v, curve) }})
	}
	return all
}

func (c lineCheck) judge(v *View, curve RunTimeCurve) finding {
	s, why := v.runTimes(curve)
	if why != "" {
		return notRun(why)
	}
	if len(s.X) < leastPairs+1 {
		return notRun("too few depths for a verdict")
	}
	f, err := report.FitLine(s.X, milliseconds(s.Y))
	if err != nil {
		return notRun(err.Error())
	}
	verdict := limited(-f.R2, -c.Reproduced, -c.Weaker)
	if f.Slope <= 0 {
		verdict = NotReproduced
	}
	return found(verdict, f.R2, math.NaN(), "%s, %g to %g layers", f.Text("ms per reverse layer"), slices.Min(s.X),
		slices.Max(s.X))
}

// powerCheck tests how time or memory grows with a quantity x, such as the number of layers. Our benchmarks give an
// exponent p: time or memory is about proportional to x^p. The formulas in the paper's table 1 have an exponent of x,
// too. The check computes our exponent minus the paper's. If this difference is at most the limit Reproduced, the
// verdict is Reproduced. If it is at most the larger limit Weaker, the verdict is Weaker. A negative difference is
// good, since the paper's exponents are upper bounds. Of is "time" or "memory".
type powerCheck struct {
	Of         string  `json:"of"`
	Reproduced float64 `json:"reproduced"`
	Weaker     float64 `json:"weaker"`
}

func (c powerCheck) problem() error {
	if c.Of != "time" && c.Of != "memory" {
		return fmt.Errorf("a power of %q: choose time or memory", c.Of)
	}
	return inOrder(c.Reproduced, c.Weaker)
}

func (c powerCheck) cases(v *View) (all []claimCase) {
	p := published[Complexities]("table1")
	for i, q := range v.Profile.Complexity.Quantities {
		theirs := p.Exponents[i].Time
		if c.Of == "memory" {
			theirs = p.Exponents[i].Memory
		}
		all = append(all, claimCase{aspect: q.Quantity, theirs: fmt.Sprintf("%s^%g", q.Quantity, theirs),
			judge: func() finding { return c.judge(v, q, theirs) }})
	}
	return all
}

func (c powerCheck) judge(v *View, q Quantity, theirs float64) finding {
	idle := v.Profile.Complexity.idle()
	m := measured{nothing: v.timed("table1", idle.Dataset, idle.Config), quantity: q}
	for _, value := range q.Values {
		m.measure(v, value)
	}
	y := m.seconds
	if c.Of == "memory" {
		y = m.memory
	}
	f, why := allPoints(m.x, y, len(q.Values), m.why)
	if why != "" {
		return notRun(why)
	}
	return found(limited(f.Slope-theirs, c.Reproduced, c.Weaker), f.Slope, theirs, "power %.2f (R² = %.3f), %d to %d, "+
		"paper at most %g", f.Slope, f.R2, slices.Min(q.Values), slices.Max(q.Values), theirs)
}

// statisticsCheck compares our statistics of the datasets with table 5. If all numbers agree, to the decimals that the
// table prints, the verdict is Reproduced. If only the numbers of nodes, edges and classes agree, the verdict is
// Weaker.
type statisticsCheck struct{}

func (statisticsCheck) problem() error { return nil }

func (c statisticsCheck) cases(v *View) (all []claimCase) {
	for _, row := range published[DatasetStatistics]("table5").Rows {
		all = append(all, claimCase{dataset: row.Dataset,
			theirs: statisticsText(row.Nodes, row.Edges, row.Classes, row.AverageDegree, row.EdgeHomophily,
				row.AdjustedHomophily),
			judge: func() finding { return c.judge(v, row) }})
	}
	return all
}

func (c statisticsCheck) judge(v *View, paper GraphStatistics) finding {
	a := experiment.Ask[metrics.Stats](v.View, experiment.Whole(results.Measure, paper.Dataset, train.Config{}))
	if !a.OK() {
		return notRun(a.Why)
	}
	o := a.Outcome
	_, same := compared(a, paper)
	verdict := NotReproduced
	switch {
	case same:
		verdict = Reproduced
	case o.Nodes == paper.Nodes && o.Edges == paper.Edges && o.Classes == paper.Classes:
		verdict = Weaker
	}
	return found(verdict, math.NaN(), math.NaN(), "%s", statisticsText(o.Nodes, o.Edges, o.Classes, o.AverageDegree,
		o.EdgeHomophily, o.AdjustedHomophily))
}

// statisticsText writes a graph's statistics as one line of text.
func statisticsText(nodes, edges, classes int, degree, homophily, adjusted float64) string {
	return fmt.Sprintf("%d nodes, %d edges, %d classes, average degree %.2f, homophily %.2f, adjusted %.2f", nodes,
		edges, classes, degree, homophily, adjusted)
}
