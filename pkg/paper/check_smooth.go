package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/experiment"
)

// gslBelow tests that the GSL of a reverse process is below the limit Below after every layer. The verdict is
// Reproduced if this holds for a model with at least Layers reverse layers and a bound c of at least Lipschitz. If it
// holds for a model with fewer reverse layers or a smaller bound, the verdict is Weaker.
type gslBelow struct {
	Model     string  `json:"model"`
	Below     float64 `json:"below"`
	Layers    int     `json:"layers"`
	Lipschitz float64 `json:"lipschitz"`
}

func (c gslBelow) problem() error {
	if c.Model == "" || c.Layers < 1 {
		return fmt.Errorf("it needs a model and a number of layers")
	}
	if err := between("lipschitz", c.Lipschitz); err != nil {
		return err
	}
	return between("below", c.Below)
}

func (c gslBelow) cases(v *View) (all []claimCase) {
	for _, dataset := range v.Profile.Smoothness.Datasets {
		all = append(all, claimCase{model: c.Model, dataset: dataset,
			theirs: fmt.Sprintf("%g up to %d reverse layers", c.Below, c.Layers),
			judge:  func() finding { return c.judge(v, dataset) }})
	}
	return all
}

func (c gslBelow) judge(v *View, dataset string) finding {
	m, a, why := v.smoothed(dataset, c.Model, 0)
	if why != "" {
		return noNumbers(why, math.NaN())
	}
	highest := most(a.Outcome.Followed.Reverse)
	verdict := NotReproduced
	switch {
	case highest < c.Below && m.Reverse >= c.Layers && m.Contraction() >= c.Lipschitz:
		verdict = Reproduced
	case highest < c.Below:
		verdict = Weaker
	}
	return found(verdict, highest, c.Below, "%.3f at most in %s layers, c = %g; test %s %.1f %%", highest, m.Depth(),
		m.Contraction(), a.Outcome.Metric, 100*float64(a.Outcome.Test))
}

// smoothed returns the settings and the training of the model of figure 3 that has the given name and the given number
// of forward layers. If this number is 0, smoothed takes the first model with the given name. If there is no training
// of the model, the result called why gives the reason.
func (v *View) smoothed(dataset, model string, forward int) (m experiment.Model,
	a experiment.Answer[experiment.Trained], why string) {
	all := v.Profile.Smoothness.Models
	i := slices.IndexFunc(all, func(m experiment.Model) bool {
		return m.Model == model && (forward == 0 || m.Forward == forward)
	})
	if i < 0 {
		return m, a, "the profile has no such run"
	}
	a = v.followed(dataset, all[i])
	if _, why := statesOf(a); why != "" {
		return m, a, why
	}
	return all[i], a, ""
}

// gslAbove tests that the plain model with the name Model over-smooths. The check takes the layers with a number above
// After, and computes the smallest GSL after any of these layers. If the smallest GSL is at least the limit Above, the
// verdict is Reproduced. If it is at least the smaller limit Weaker, the verdict is Weaker. Depths has the numbers of
// layers with which the model was trained. There is a case for each dataset and each number in Depths.
type gslAbove struct {
	Model  string  `json:"model"`
	Depths []int   `json:"depths"`
	After  int     `json:"after"`
	Above  float64 `json:"above"`
	Weaker float64 `json:"weaker"`
}

func (c gslAbove) problem() error {
	if c.Model == "" || len(c.Depths) == 0 || c.After < 1 || slices.Min(c.Depths) <= c.After {
		return fmt.Errorf("it needs a model, and depths beyond the layers that it begins after")
	}
	return inOrder(c.Weaker, c.Above)
}

func (c gslAbove) cases(v *View) (all []claimCase) {
	for _, dataset := range v.Profile.Smoothness.Datasets {
		for _, depth := range c.Depths {
			all = append(all, claimCase{model: c.Model, dataset: dataset, aspect: fmt.Sprintf("%d layers", depth),
				theirs: fmt.Sprintf("%g after layer %d", c.Above, c.After),
				judge:  func() finding { return c.judge(v, dataset, depth) }})
		}
	}
	return all
}

func (c gslAbove) judge(v *View, dataset string, depth int) finding {
	_, a, why := v.smoothed(dataset, c.Model, depth)
	if why != "" {
		return noNumbers(why, math.NaN())
	}
	forward := a.Outcome.Followed.Forward
	lowest := least(forward, func(l experiment.Layer) bool { return l.Layer > c.After })
	if math.IsInf(lowest, 0) {
		return notRun("no layers were followed there")
	}
	// The function limited is for numbers that ought to be small. Here the GSL ought to be large. So all numbers are
	// negated.
	return found(limited(-lowest, -c.Above, -c.Weaker), lowest, c.Above, "%.3f after layer %d, at least %.3f after "+
		"later ones; test %s %.1f %%", at(forward, c.After), c.After, lowest, a.Outcome.Metric,
		100*float64(a.Outcome.Test))
}

// gslLess tests that the forward process of Model has a smaller GSL than Plain, a model without a reverse process.
// Plain was trained several times, with different numbers of layers. The check compares Model with each of these
// trainings. Each comparison takes the mean GSL of Model and the mean GSL of Plain, over the layers that are recorded
// for both. The verdict is Reproduced if Model has the smaller mean in every comparison, and a bound c of at least
// Lipschitz. (With a smaller bound, its layers change the features so little that there is not much to compare.) The
// verdict is Weaker if Model has the smaller mean in every comparison, but a smaller bound, or if Model has the smaller
// mean only in some comparisons.
type gslLess struct {
	Model     string  `json:"model"`
	Plain     string  `json:"plain"`
	Lipschitz float64 `json:"lipschitz"`
}

func (c gslLess) problem() error {
	if c.Model == "" || c.Plain == "" {
		return fmt.Errorf("it needs two models")
	}
	return between("lipschitz", c.Lipschitz)
}

func (c gslLess) cases(v *View) (all []claimCase) {
	for _, dataset := range v.Profile.Smoothness.Datasets {
		all = append(all, claimCase{model: c.Model, dataset: dataset,
			judge: func() finding { return c.judge(v, dataset) }})
	}
	return all
}

func (c gslLess) judge(v *View, dataset string) finding {
	reversed, a, why := v.smoothed(dataset, c.Model, 0)
	if why != "" {
		return noNumbers(why, math.NaN())
	}
	less, of, text := 0, 0, ""
	for _, m := range v.Profile.Smoothness.Models {
		if m.Model != c.Plain {
			continue
		}
		_, plain, why := v.smoothed(dataset, c.Plain, m.Forward)
		if why != "" {
			return notRun(why)
		}
		own, theirs := sharedGSL(a.Outcome.Followed.Forward, plain.Outcome.Followed.Forward)
		if math.IsNaN(own) {
			return notRun("no layers were followed in both")
		}
		if of++; own < theirs {
			less++
		}
		text += fmt.Sprintf(", %.3f against %.3f of %d layers", own, theirs, m.Forward)
	}
	verdict := NotReproduced
	switch {
	case of == 0:
		return notRun("the profile has no plain models")
	case less == of && reversed.Contraction() >= c.Lipschitz:
		verdict = Reproduced
	case less > 0:
		verdict = Weaker
	}
	return found(verdict, math.NaN(), math.NaN(), "mean GSL of the layers shared, c = %g%s", reversed.Contraction(), text)
}

// sharedGSL returns two means: the mean GSL of model a and the mean GSL of model b. Both means are over the layers that
// are recorded for both models. Layer 0, the encoded input, does not count.
func sharedGSL(a, b []experiment.Layer) (ofA, ofB float64) {
	n := 0.0
	for _, l := range a {
		if other := at(b, l.Layer); l.Layer > 0 && !math.IsNaN(other) {
			ofA, ofB, n = ofA+float64(l.GSL), ofB+other, n+1
		}
	}
	return ofA / n, ofB / n
}
