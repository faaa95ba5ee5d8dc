package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/results"
)

// spreadOver is a check of figure 1. It takes the predictions that the head makes from the state after the first layer
// of one process, and from the state after the last layer. For each of these two layers, it computes the standard
// deviation of the predictions over the cells of the board that figure 1 shows. From the first layer to the last, the
// standard deviation must grow at least by the factor Factor. If Falls is true, the standard deviation must instead
// shrink at least by this factor.
//
// Model is "reverse" for the model with a reverse process, or "plain" for the model without one. Process is "forward"
// or "reverse".
type spreadOver struct {
	Model   string  `json:"model"`
	Process string  `json:"process"`
	Falls   bool    `json:"falls,omitempty"`
	Factor  float64 `json:"factor"`
}

func (c spreadOver) problem() error {
	if c.Model != "reverse" && (c.Model != "plain" || c.Process != "forward") {
		return fmt.Errorf("the %s process of model %q: choose reverse, or plain with its forward process", c.Process,
			c.Model)
	}
	if !(c.Factor > 1) {
		return fmt.Errorf("factor is %g: give one above 1", c.Factor)
	}
	return processOf(c.Process)
}

func (c spreadOver) cases(v *View) []claimCase {
	m := v.Profile.Boards.Reverse
	if c.Model == "plain" {
		m = v.Profile.Boards.Plain
	}
	return []claimCase{{model: m.Model, judge: func() finding { return c.judge(v) }}}
}

func (c spreadOver) judge(v *View) finding {
	f, why := v.board(c.Model == "plain")
	if why != "" {
		return noNumbers(why, math.NaN())
	}
	layers := f.Forward
	if c.Process == "reverse" {
		layers = f.Reverse
	}
	layers = slices.DeleteFunc(slices.Clone(layers), func(l experiment.Layer) bool { return l.Layer == 0 })
	if len(layers) < 2 {
		return notRun("too few layers were followed")
	}
	begin, end := layers[0], layers[len(layers)-1]
	from, to := metrics.SampleStd(begin.Boards[0]), metrics.SampleStd(end.Boards[0])
	more, less := to, from
	if c.Falls {
		more, less = from, to
	}
	return found(factored(more, less, c.Factor), to, math.NaN(), "the predictions' standard deviation is "+
		"%.2g after layer %d, %.2g after layer %d", from, begin.Layer, to, end.Layer)
}

// factored returns the verdict on a claim that one number, x, is larger than another number, y. The verdict is
// Reproduced if x is at least factor · y. If x is larger than y, but by a smaller factor, the verdict is Weaker.
// Otherwise the verdict is NotReproduced.
func factored(x, y, factor float64) Verdict {
	switch {
	case x > 0 && x >= factor*y:
		return Reproduced
	case x > y:
		return Weaker
	}
	return NotReproduced
}

// board returns what was recorded about the states of a trained model of figures 1 and 4. If plain is true, the model
// is the one without a reverse process. Otherwise it is the one with a reverse process. If nothing was recorded, the
// result called why gives the reason.
func (v *View) board(plain bool) (f *experiment.Followed, why string) {
	ask := v.Profile.Boards.Reverse
	if plain {
		ask = v.Profile.Boards.Plain
	}
	return statesOf(v.onBoards(ask.Config))
}

// statesOf returns what was recorded about the states of a trained model. If nothing was recorded, the result called
// why gives the reason. It begins with [failedRuns] if the training diverged.
func statesOf(a experiment.Answer[experiment.Trained]) (f *experiment.Followed, why string) {
	switch {
	case diverged(a):
		return nil, failedRuns + a.Why
	case !a.OK():
		return nil, a.Why
	case a.Outcome.Followed == nil:
		return nil, "its states were not kept"
	}
	return a.Outcome.Followed, ""
}

// diverged tells whether the training is recorded and diverged.
func diverged(a experiment.Answer[experiment.Trained]) bool {
	return a.Record != nil && a.Record.Status == results.Diverged
}

// directions is a check of figure 4. The head predicts from the result of the forward process alone, and then from the
// result of the reverse process alone. For each process, the check computes the standard deviation of the predictions
// over the cells of the board that figure 4 shows. The standard deviation for the reverse process must be at least
// Factor times the standard deviation for the forward process.
type directions struct {
	Factor float64 `json:"factor"`
}

func (c directions) problem() error {
	if !(c.Factor > 1) {
		return fmt.Errorf("factor is %g: give one above 1", c.Factor)
	}
	return nil
}

func (c directions) cases(v *View) []claimCase {
	return []claimCase{{model: v.Profile.Boards.Reverse.Model, judge: func() finding {
		f, why := v.board(false)
		if why != "" {
			return noNumbers(why, math.NaN())
		}
		last := func(layers []experiment.Layer) float64 {
			return metrics.SampleStd(slices.Concat(layers[len(layers)-1].Boards[1:]...)) // Boards[0] is for figure 1
		}
		if len(f.Forward) == 0 || len(f.Reverse) == 0 {
			return notRun("too few layers were followed")
		}
		reverse, forward := last(f.Reverse), last(f.Forward)
		return found(factored(reverse, forward, c.Factor), reverse, math.NaN(), "the predictions' standard deviation "+
			"is %.2g from the reverse process, %.2g from the forward process", reverse, forward)
	}}}
}
