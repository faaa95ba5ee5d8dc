package paper

import (
	"fmt"
	"math"

	"github.com/revgnn/revgnn/pkg/train"
)

// inversionCheck compares our inversion errors with those in table 4. An inversion computes layers forwards and then
// backwards, and its error is the mean absolute difference between the input and the result. The check divides our
// error by the published error. If this ratio is at most the limit Reproduced, the verdict is Reproduced. If it is at
// most the larger limit Weaker, the verdict is Weaker.
type inversionCheck struct {
	Reproduced float64 `json:"reproduced"`
	Weaker     float64 `json:"weaker"`
}

func (c inversionCheck) problem() error { return inOrder(c.Reproduced, c.Weaker) }

func (c inversionCheck) cases(v *View) []claimCase {
	return inversions(v, func(theirs float64) string { return fmt.Sprintf("%.2e", theirs) },
		func(o train.Inversion, theirs float64) finding {
			ours := float64(o.MeanAbsError)
			return found(limited(ours/theirs, c.Reproduced, c.Weaker), ours, theirs, "%.2e, paper %.2e; inputs are %.2g on "+
				"average", ours, theirs, o.MeanAbsInput)
		})
}

// inversions makes a case for each published error in table 4. The function theirs returns the text that replaces
// {theirs} in [Claim.Says]. Its argument is the published error. The function judge returns the verdict with its
// numbers. Its arguments are the outcome of our run and the published error.
func inversions(v *View, theirs func(float64) string, judge func(o train.Inversion, theirs float64) finding) (
	all []claimCase) {
	p := published[InversionErrors]("table4")
	for k, model := range p.Models {
		for _, row := range p.Rows {
			all = append(all, claimCase{model: model, dataset: row.Dataset, theirs: theirs(row.Errors[k]),
				judge: func() finding {
					a := v.inversion(p, row.Dataset, model)
					if !a.OK() {
						return notRun(a.Why)
					}
					return judge(a.Outcome, row.Errors[k])
				}})
		}
	}
	return all
}

// converges tests that fixed-point iteration has nearly converged in the iteration with the number Iterations. The
// check takes the mean absolute change of the iterate in this iteration. If the change is at most the limit Reproduced,
// the verdict is Reproduced. If the change is at most the larger limit Weaker, the verdict is Weaker.
type converges struct {
	Iterations int     `json:"iterations"`
	Reproduced float64 `json:"reproduced"`
	Weaker     float64 `json:"weaker"`
}

func (c converges) problem() error {
	if c.Iterations < 1 {
		return fmt.Errorf("iterations is %d: give 1 or more", c.Iterations)
	}
	return inOrder(c.Reproduced, c.Weaker)
}

func (c converges) cases(v *View) []claimCase {
	return inversions(v, func(float64) string { return fmt.Sprint(c.Iterations) },
		func(o train.Inversion, _ float64) finding {
			if len(o.Residual) < c.Iterations {
				return notRun(fmt.Sprintf("%s only", count(len(o.Residual), "iteration")))
			}
			first, last := float64(o.Residual[0]), float64(o.Residual[c.Iterations-1])
			return found(limited(last, c.Reproduced, c.Weaker), last, math.NaN(), "mean absolute change %.2g in the first "+
				"iteration, %.2g in iteration %d", first, last, c.Iterations)
		})
}
