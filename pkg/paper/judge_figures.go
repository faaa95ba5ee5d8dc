package paper

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// trendCases tests that the test metric rises with the number of layers: Reproduced by a positive and significant rank
// correlation, Weaker if the deepest model is better than the shallowest. Reverse layers count up to the number that
// the paper could run.
func trendCases(v *View, r rule) (all []claimCase) {
	for _, dataset := range r.Datasets {
		limit := r.Layers
		if l := statement(2).ReverseLimit[dataset]; l > 0 && r.Process == "reverse" {
			limit = l
		}
		all = append(all, claimCase{model: r.Model, dataset: dataset, theirs: values{"limit": limit},
			judge: func() finding { return r.trend(v, dataset, limit) }})
	}
	return all
}

func (r rule) trend(v *View, dataset string, limit int) finding {
	i := slices.IndexFunc(v.Profile.Depth.Curves, func(curve DepthCurve) bool {
		return curve.Dataset == dataset && curve.Model.Model == r.Model
	})
	if i < 0 {
		return notRun("the profile has no such runs")
	}
	curve := v.Profile.Depth.Curves[i]
	var layers, tests []float64
	var bad []string
	for k, at := range curve.Depths {
		if at.Layers > limit {
			continue
		}
		_, _, values, diverged, missing := v.atDepth(curve, k, r.Process)
		for _, one := range diverged {
			bad = append(bad, fmt.Sprintf("%d layers, %s", at.Layers, one))
		}
		switch {
		case missing != "":
			return notRun(missing)
		case len(values) == 0:
			return noNumbers(failedRuns+fmt.Sprintf("all trainings with %d layers", at.Layers), math.NaN())
		}
		layers, tests = append(layers, float64(at.Layers)), append(tests, metrics.Mean(values))
	}
	if len(layers) < leastPairs {
		return notRun("too few depths for a verdict")
	}
	rho, p := spearman(layers, tests)
	n := len(tests) - 1
	best := slices.Index(tests, slices.Max(tests))
	f := found(graded(rho > 0 && p < r.Significance, tests[n] > tests[0]), rho, math.NaN(),
		values{"first": tests[0], "fewest": layers[0], "last": tests[n], "deepest": layers[n], "best": tests[best],
			"best_at": layers[best], "rho": rho, "depths": count(n+1, "depth"), "p": p}).withoutFailed(bad)
	f.p = p
	return f
}

// smoothed returns the settings and the training of the model of figure 3 with the given name and number of forward
// layers, or the first with this name if the number is 0. If there is none, why gives the reason.
func (v *View) smoothed(dataset, model string, forward int) (m runs.Model,
	a runs.Answer[runs.Trained], why string) {
	all := v.Profile.Smoothness.Models
	i := slices.IndexFunc(all, func(m runs.Model) bool {
		return m.Model == model && (forward == 0 || m.Forward == forward)
	})
	if i < 0 {
		return m, a, "the profile has no such run"
	}
	a = v.followed(dataset, all[i])
	_, why = statesOf(a)
	return all[i], a, why
}

// onStates makes a case for each dataset of figure 3 and each depth (0: any), about what was recorded of the model's
// states.
func (v *View) onStates(model string, depths []int,
	judge func(dataset string, m runs.Model, o runs.Trained) finding) (all []claimCase) {

	for _, dataset := range v.Profile.Smoothness.Datasets {
		for _, depth := range depths {
			one := claimCase{model: model, dataset: dataset, judge: func() finding {
				m, a, why := v.smoothed(dataset, model, depth)
				if why != "" {
					return noNumbers(why, math.NaN())
				}
				return judge(dataset, m, a.Outcome)
			}}
			if depth > 0 {
				one.aspect = fmt.Sprintf("%d layers", depth)
			}
			all = append(all, one)
		}
	}
	return all
}

// gslBelowCases tests that the GSL of a reverse process is below a limit after every layer. It is Weaker with fewer
// than Layers reverse layers, or a bound c of less than Lipschitz.
func gslBelowCases(v *View, r rule) []claimCase {
	return v.onStates(r.Model, []int{0}, func(_ string, m runs.Model, o runs.Trained) finding {
		highest := most(o.Traced.Reverse)
		verdict := graded(highest < r.Below && m.Reverse >= r.Layers && m.Contraction() >= r.Lipschitz,
			highest < r.Below)
		return found(verdict, highest, r.Below, values{"highest": highest, "depth": m.Depth(), "c": m.Contraction(),
			"metric": o.Metric, "test": 100 * float64(o.Test)})
	})
}

// gslAboveCases tests that a plain model over-smooths: the smallest GSL of the layers after the layer After. There is a
// case for each dataset and depth.
func gslAboveCases(v *View, r rule) []claimCase {
	return v.onStates(r.Model, r.Depths, func(_ string, _ runs.Model, o runs.Trained) finding {
		forward := o.Traced.Forward
		lowest := least(forward, func(l runs.Layer) bool { return l.Layer > r.After })
		if math.IsInf(lowest, 0) {
			return notRun("no layers were followed there")
		}
		return found(graded(lowest >= r.Above, lowest >= r.Weaker), lowest, r.Above, values{"at": at(forward, r.After),
			"lowest": lowest, "metric": o.Metric, "test": 100 * float64(o.Test)})
	})
}

// gslLessCases tests that the forward process of Model has a smaller mean GSL than each training of the model Plain,
// over the layers recorded for both. It is Weaker with a bound c of less than Lipschitz (such layers hardly change the
// features, so that there is not much to compare), or if below some trainings only.
func gslLessCases(v *View, r rule) []claimCase {
	return v.onStates(r.Model, []int{0}, func(dataset string, reversed runs.Model, o runs.Trained) finding {
		less := 0
		var each []values
		for _, m := range v.Profile.Smoothness.Models {
			if m.Model != r.Plain {
				continue
			}
			_, plain, why := v.smoothed(dataset, r.Plain, m.Forward)
			if why != "" {
				return notRun(why)
			}
			own, theirs := sharedGSL(o.Traced.Forward, plain.Outcome.Traced.Forward)
			if math.IsNaN(own) {
				return notRun("no layers were followed in both")
			}
			if own < theirs {
				less++
			}
			each = append(each, values{"own": own, "plain": theirs, "layers": m.Forward})
		}
		if len(each) == 0 {
			return notRun("the profile has no plain models")
		}
		return found(graded(less == len(each) && reversed.Contraction() >= r.Lipschitz, less > 0), math.NaN(),
			math.NaN(), values{"c": reversed.Contraction(), "each": each})
	})
}

// sharedGSL returns the mean GSL of a and of b over the layers recorded for both, without layer 0, the encoded input.
func sharedGSL(a, b []runs.Layer) (ofA, ofB float64) {
	n := 0.0
	for _, l := range a {
		if other := at(b, l.Layer); l.Layer > 0 && !math.IsNaN(other) {
			ofA, ofB, n = ofA+float64(l.GSL), ofB+other, n+1
		}
	}
	return ofA / n, ofB / n
}

// onFigure1 makes a case about a network of figures 1 and 4, from what was recorded about its states.
func (v *View) onFigure1(network string, judge func(f *runs.Traced) finding) []claimCase {
	m := v.Profile.Boards.Reverse
	if network == "plain" {
		m = v.Profile.Boards.Plain
	}
	return []claimCase{{model: m.Model, judge: func() finding {
		f, why := statesOf(v.onBoards(m.Config))
		if why != "" {
			return noNumbers(why, math.NaN())
		}
		return judge(f)
	}}}
}

// spreadCases tests that the standard deviation of the predictions on figure 1's board grows by Factor (or falls by it,
// if Falls) from the first layer of a process to the last. It is Weaker by any smaller factor.
func spreadCases(v *View, r rule) []claimCase {
	return v.onFigure1(r.Network, func(f *runs.Traced) finding {
		layers := f.Forward
		if r.Process == "reverse" {
			layers = f.Reverse
		}
		layers = slices.DeleteFunc(slices.Clone(layers), func(l runs.Layer) bool { return l.Layer == 0 })
		if len(layers) < 2 {
			return notRun("too few layers were followed")
		}
		begin, end := layers[0], layers[len(layers)-1]
		from, to := metrics.SampleStd(begin.Boards[0]), metrics.SampleStd(end.Boards[0])
		more, less := to, from
		if r.Falls {
			more, less = from, to
		}
		return found(factored(more, less, r.Factor), to, math.NaN(),
			values{"from": from, "first": begin.Layer, "to": to, "last": end.Layer})
	})
}

// directionCases tests that the predictions on figure 4's boards from the reverse process have a standard deviation at
// least Factor times that from the forward process.
func directionCases(v *View, r rule) []claimCase {
	return v.onFigure1("reverse", func(f *runs.Traced) finding {
		if len(f.Forward) == 0 || len(f.Reverse) == 0 {
			return notRun("too few layers were followed")
		}
		last := func(layers []runs.Layer) float64 {
			return metrics.SampleStd(slices.Concat(layers[len(layers)-1].Boards[1:]...)) // Boards[0] is for figure 1
		}
		reverse, forward := last(f.Reverse), last(f.Forward)
		return found(factored(reverse, forward, r.Factor), reverse, math.NaN(),
			values{"reverse": reverse, "forward": forward})
	})
}

func factored(x, y, factor float64) Verdict { return graded(x > 0 && x >= factor*y, x > y) }

// statesOf returns what was recorded about the states of a trained model, or the reason why nothing was: it begins with
// [failedRuns] if the training diverged.
func statesOf(a runs.Answer[runs.Trained]) (f *runs.Traced, why string) {
	switch {
	case diverged(a):
		return nil, failedRuns + a.Why
	case !a.OK():
		return nil, a.Why
	case a.Outcome.Traced == nil:
		return nil, "its states were not kept"
	}
	return a.Outcome.Traced, ""
}

func diverged(a runs.Answer[runs.Trained]) bool {
	return a.Record != nil && a.Record.Status == runs.Diverged
}

// inversionCases compares each of our inversion errors with that in table 4, by their ratio.
func inversionCases(v *View, r rule) []claimCase {
	return v.inversions(func(o train.Inversion, theirs float64) finding {
		ours := float64(o.MeanAbsError)
		return found(limited(ours/theirs, r.Reproduced, r.Weaker), ours, theirs,
			values{"ours": ours, "inputs": o.MeanAbsInput})
	})
}

// convergenceCases tests the mean absolute change of the iterate in the iteration Iterations.
func convergenceCases(v *View, r rule) []claimCase {
	return v.inversions(func(o train.Inversion, _ float64) finding {
		if len(o.Residual) < r.Iterations {
			return notRun(fmt.Sprintf("%s only", count(len(o.Residual), "iteration")))
		}
		last := float64(o.Residual[r.Iterations-1])
		return found(limited(last, r.Reproduced, r.Weaker), last, math.NaN(),
			values{"first": o.Residual[0], "last": last})
	})
}

// inversions makes a case for each published error in table 4.
func (v *View) inversions(judge func(o train.Inversion, theirs float64) finding) (all []claimCase) {
	p := published[InversionErrors]("table4")
	for k, model := range p.Models {
		for _, row := range p.Rows {
			all = append(all, claimCase{model: model, dataset: row.Dataset, theirs: values{"paper": row.Errors[k]},
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

// lineCases tests that the times in figure 6 lie on a rising line, by R², the share of their variance that it explains.
func lineCases(v *View, r rule) (all []claimCase) {
	for _, curve := range v.Profile.RunTime.Curves {
		all = append(all, claimCase{model: curve.Model.Model, dataset: curve.Dataset,
			aspect: count(curve.Model.Forward, "forward layer"),
			judge: func() finding {
				s, why := v.runTimes(curve)
				if why == "" && len(s.X) < leastPairs+1 {
					why = "too few depths for a verdict"
				}
				if why != "" {
					return notRun(why)
				}
				f, err := report.FitLine(s.X, floats.ScaleTo(make([]float64, len(s.Y)), 1e3, s.Y))
				if err != nil {
					return notRun(err.Error())
				}
				return found(graded(f.Slope > 0 && f.R2 >= r.Above, f.Slope > 0 && f.R2 >= r.Weaker), f.R2, math.NaN(),
					values{"fit": f.Text("ms per reverse layer"), "from": slices.Min(s.X), "to": slices.Max(s.X)})
			}})
	}
	return all
}

// powerCases tests by how much our exponent of a quantity, such as the number of layers, is above that in the formulas
// of table 1. These are upper bounds, so that less is good.
func powerCases(v *View, r rule) (all []claimCase) {
	p := published[Complexities]("table1")
	for i, q := range v.Profile.Complexity.Quantities {
		theirs := p.Exponents[i].Time
		if r.Of == "memory" {
			theirs = p.Exponents[i].Memory
		}
		all = append(all, claimCase{aspect: q.Quantity, theirs: values{"paper": theirs},
			judge: func() finding {
				m := v.measure(q)
				y := m.seconds
				if r.Of == "memory" {
					y = m.memory
				}
				f, why := m.exponent(y)
				if why != "" {
					return notRun(why)
				}
				return found(limited(f.Slope-theirs, r.Reproduced, r.Weaker), f.Slope, theirs, values{"power": f.Slope,
					"r2": f.R2, "from": slices.Min(q.Values), "to": slices.Max(q.Values)})
			}})
	}
	return all
}

// statisticsCases compares the datasets with table 5: all statistics, to its decimals, or nodes, edges and classes.
func statisticsCases(v *View, _ rule) (all []claimCase) {
	for _, row := range published[DatasetStatistics]("table5").Rows {
		judge := func() finding {
			a := runs.Ask[metrics.Stats](v.View, runs.Whole(runs.Measure, row.Dataset, train.Config{}))
			if !a.OK() {
				return notRun(a.Why)
			}
			o := a.Outcome
			_, same := compared(a, row.Stats)
			return found(graded(same, o.Nodes == row.Nodes && o.Edges == row.Edges && o.Classes == row.Classes),
				math.NaN(), math.NaN(), values{"ours": statisticsValues(o)})
		}
		all = append(all, claimCase{dataset: row.Dataset, theirs: values{"theirs": statisticsValues(row.Stats)}, judge: judge})
	}
	return all
}

func statisticsValues(s metrics.Stats) []values {
	return []values{{"nodes": s.Nodes, "edges": s.Edges, "classes": s.Classes, "degree": s.AverageDegree,
		"homophily": s.EdgeHomophily, "adjusted": s.AdjustedHomophily}}
}
