package paper

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/revgnn/revgnn/pkg/metrics"
)

// trend is a check of figure 2: the test metric must rise with the number of layers of one process. The check computes
// Spearman's rank correlation of the test metric and the number of layers. The verdict is Reproduced if the correlation
// is positive and significant at the level Significance. Otherwise the verdict is Weaker if the test metric is better
// with the largest number of layers than with the smallest. Splits on which a training diverged are not in the mean of
// their number of layers, and the verdict is then Weaker at best. If all trainings with some number of layers diverged,
// the verdict is NotReproduced.
//
// The check takes only models with at most Layers layers of this process. On some datasets the paper ran out of memory
// with many reverse layers. For these datasets, a check of the reverse process takes only numbers of reverse layers
// that the paper could run.
type trend struct {
	Process      string   `json:"process"`
	Model        string   `json:"model"`
	Datasets     []string `json:"datasets"`
	Layers       int      `json:"layers"`
	Significance float64  `json:"significance"`
}

func (c trend) problem() error {
	if err := processOf(c.Process); err != nil {
		return err
	}
	if c.Model == "" || len(c.Datasets) == 0 || c.Layers < 1 {
		return fmt.Errorf("it needs a model, datasets and a number of layers")
	}
	return between("significance", c.Significance)
}

// processOf returns an error unless the name of the process is "forward" or "reverse".
func processOf(name string) error {
	if name != "forward" && name != "reverse" {
		return fmt.Errorf("the process %q: choose forward or reverse", name)
	}
	return nil
}

func (c trend) cases(v *View) (all []claimCase) {
	for _, dataset := range c.Datasets {
		limit := c.Layers
		if l := statement(2).ReverseLimit[dataset]; l > 0 && c.Process == "reverse" {
			limit = l
		}
		all = append(all, claimCase{model: c.Model, dataset: dataset, theirs: fmt.Sprint(limit),
			judge: func() finding { return c.judge(v, dataset, limit) }})
	}
	return all
}

func (c trend) judge(v *View, dataset string, limit int) finding {
	i := slices.IndexFunc(v.Profile.Depth.Curves, func(curve DepthCurve) bool {
		return curve.Dataset == dataset && curve.Model.Model == c.Model
	})
	if i < 0 {
		return notRun("the profile has no such runs")
	}
	layers, tests, bad, why := v.byDepth(v.Profile.Depth.Curves[i], c.Process, limit)
	if why != "" {
		return noNumbers(why, math.NaN())
	}
	if len(layers) < leastPairs {
		return notRun("too few depths for a verdict")
	}
	rho, p := spearman(layers, tests)
	n := len(tests) - 1
	verdict := NotReproduced
	switch {
	case rho > 0 && p < c.Significance:
		verdict = Reproduced
	case tests[n] > tests[0]:
		verdict = Weaker
	}
	best := slices.Index(tests, slices.Max(tests))
	f := found(verdict, rho, math.NaN(), "%.2f with %g and %.2f with %g, the best is %.2f with %g; rank correlation "+
		"%.2f over %s, p = %.3f", tests[0], layers[0], tests[n], layers[n], tests[best], layers[best], rho,
		count(n+1, "depth"), p).withoutFailed(bad)
	f.p = p
	return f
}

// byDepth returns the points of figure 2 for one dataset and one process. The result layers has the numbers of layers
// of this process that are not above the limit. For each of them, the result tests has the mean test metric over the
// splits, in percent. The result bad has a text for each training that diverged. If runs are missing, or all those with
// some number of layers diverged, the result why gives the reason.
func (v *View) byDepth(curve DepthCurve, process string, limit int) (layers, tests []float64, bad []string,
	why string) {

	for k, at := range curve.Depths {
		if at.Layers > limit {
			continue
		}
		_, _, values, diverged, missing := v.atDepth(curve, k, process)
		for _, one := range diverged {
			bad = append(bad, fmt.Sprintf("%d layers, %s", at.Layers, one))
		}
		switch {
		case missing != "":
			return nil, nil, nil, missing
		case len(values) == 0:
			return nil, nil, nil, failedRuns + fmt.Sprintf("all trainings with %d layers", at.Layers)
		}
		layers, tests = append(layers, float64(at.Layers)), append(tests, metrics.Mean(values))
	}
	return layers, tests, bad, ""
}

// mostPermuted is the largest number of values for which the function spearman computes the p-value from all
// permutations. Eight values have 8! = 40,320 permutations.
const mostPermuted = 8

// spearman returns Spearman's rank correlation rho of x and y, and its two-sided p-value. The p-value is the
// probability that independent x and y have a correlation at least as far from 0 as rho. For up to eight values, p is
// the share of all permutations of y whose correlation with x is at least as far from 0 as rho. For n > 8 values, p
// comes from Student's t distribution with n-2 degrees of freedom.
func spearman(x, y []float64) (rho, p float64) {
	a, b := ranks(x), ranks(y)
	rho = stat.Correlation(a, b, nil)
	if math.IsNaN(rho) {
		return 0, 1 // all values of x are equal, or all values of y
	}
	if n := len(x); n > mostPermuted {
		df := float64(n - 2)
		t := math.Abs(rho) * math.Sqrt(df/(1-rho*rho)) // for |rho| = 1, t is infinite and p is 0
		return rho, 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Survival(t)
	}
	const rounding = 1e-9
	orders, far, order := combin.NewPermutationGenerator(len(b), len(b)), 0, make([]float64, len(b))
	all := 0
	for orders.Next() {
		for i, k := range orders.Permutation(nil) {
			order[i] = b[k]
		}
		if all++; math.Abs(stat.Correlation(a, order, nil)) >= math.Abs(rho)-rounding {
			far++
		}
	}
	return rho, float64(far) / float64(all)
}

// ranks returns the rank of each value: its position in ascending order, counted from 1. Equal values share the mean of
// their positions.
func ranks(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, x := range values {
		below, equal := 0, 0
		for _, y := range values {
			if y < x {
				below++
			} else if y == x {
				equal++
			}
		}
		out[i] = float64(below) + float64(equal+1)/2
	}
	return out
}
