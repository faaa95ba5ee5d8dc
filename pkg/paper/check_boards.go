package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// spreadOver tests how the predictions on figure 1's part of the board change over the layers of a process: their
// standard deviation must grow or, with Falls, shrink by a factor from the first layer to the last. Model is
// "reverse", the model with a reverse process, or "plain".
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
		return notRun(why)
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
	return found(factored(more, less, c.Factor), to, math.NaN(), "%.3f after layer %d, %.3f after layer %d", from, begin.Layer,
		to, end.Layer)
}

// factored is the verdict on whether one number is larger than another by a factor.
func factored(more, less, factor float64) Verdict {
	switch {
	case more > 0 && more >= factor*less:
		return Reproduced
	case more > less:
		return Weaker
	}
	return NotReproduced
}

// board is the training behind figures 1 and 4, or why there is none. Only the run asked for counts as used.
func (v *View) board(plain bool) (f *experiment.Followed, why string) {
	ask := v.Profile.Boards.Reverse
	if plain {
		ask = v.Profile.Boards.Plain
	}
	a := v.onBoards(ask.Config)
	switch {
	case !a.OK():
		return nil, a.Why
	case a.Outcome.Followed == nil:
		return nil, "its states were not kept"
	}
	return a.Outcome.Followed, ""
}

// directions tests, on figure 4's parts of the board, that predictions from the reverse process alone have a standard
// deviation larger, by a factor, than those from the forward process alone.
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
			return notRun(why)
		}
		last := func(layers []experiment.Layer) float64 {
			return metrics.SampleStd(slices.Concat(layers[len(layers)-1].Boards[1:]...)) // the first part is figure 1's
		}
		if len(f.Forward) == 0 || len(f.Reverse) == 0 {
			return notRun("too few layers were followed")
		}
		reverse, forward := last(f.Reverse), last(f.Forward)
		return found(factored(reverse, forward, c.Factor), reverse, math.NaN(), "%.3f from the reverse process, %.3f from "+
			"the forward process", reverse, forward)
	}}}
}
