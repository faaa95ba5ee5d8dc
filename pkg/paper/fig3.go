package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/report"
)

// smoothness is figure 3: the smoothness (GSL) of trained models' states, layer by layer.
func smoothness(v *View) *Document {
	d := &Document{}
	p := v.Profile.Smoothness
	d.note("The paper: %s", claim(3).Says)
	for _, dataset := range p.Datasets {
		var series []report.Series
		for _, m := range p.Models {
			t := experiment.Training(dataset, p.Split, m.Config)
			t.Follow = &experiment.Follow{Layers: p.Layers}
			a := experiment.Ask[experiment.Trained](v.View, t)
			if !a.OK() || a.Outcome.Followed == nil {
				d.note("%s %s on %s: %s.", m.Model, m.Depth(), dataset, a.Why)
				continue
			}
			for _, s := range d.smooth(dataset, m, a.Outcome) {
				if len(s.X) > 0 {
					series = append(series, s)
				}
			}
		}
		if len(series) > 0 {
			d.Figures = append(d.Figures, report.Curves("fig3-"+dataset, v.title("Smoothness over layers, "+dataset),
				"layers", "GSL", series, report.Axes{Log2X: true}))
		}
	}
	d.note("GSL is the mean cosine similarity over all pairs of nodes, exactly, of the states of models trained on "+
		"split %d, at the parameters of the best validation metric. %s", p.Split, p.Note)
	return d
}

// smooth are the lines of a model, and notes what they say beside the paper's.
func (d *Document) smooth(dataset string, m experiment.Model, o experiment.Trained) []report.Series {
	says, f, title := claim(3), o.Followed, titleOf(m.Model)
	if m.HasReverse() {
		d.note("%s, %s of %s layers: the GSL of the reverse process is %.3f at most up to %d layers (paper: below "+
			"%g); test %s %.1f %%.", dataset, title, m.Depth(),
			most(f.Reverse), m.Reverse, says.Below, o.Metric, 100*float64(o.Test))
		return []report.Series{line(fmt.Sprintf("%s, reverse of %d", title, m.Reverse), f.Reverse),
			line(fmt.Sprintf("%s, forward of %d", title, m.Forward), f.Forward)}
	}
	from := func(l experiment.Layer) bool { return l.Layer > says.AfterLayers }
	d.note("%s, %s of %d layers: GSL %.3f after layer %d, at least %.3f from there on; test %s %.1f %%.",
		dataset, title, m.Forward,
		at(f.Forward, says.AfterLayers), says.AfterLayers, least(f.Forward, from), o.Metric, 100*float64(o.Test))
	return []report.Series{line(fmt.Sprintf("%s, %d layers", title, m.Forward), f.Forward)}
}

// line is the GSL over layers, without the input and what is not finite.
func line(name string, layers []experiment.Layer) report.Series {
	s := report.Series{Name: name}
	for _, l := range layers {
		if l.Layer > 0 && !math.IsNaN(float64(l.GSL)) {
			s.X, s.Y = append(s.X, float64(l.Layer)), append(s.Y, float64(l.GSL))
		}
	}
	return s
}

// at is the GSL after a number of layers, NaN where it is not known.
func at(layers []experiment.Layer, l int) float64 {
	if i := slices.IndexFunc(layers, func(x experiment.Layer) bool { return x.Layer == l }); i >= 0 {
		return float64(layers[i].GSL)
	}
	return math.NaN()
}

// least GSL of the layers chosen.
func least(layers []experiment.Layer, of func(experiment.Layer) bool) float64 {
	out := math.Inf(1)
	for _, l := range layers {
		if of(l) {
			out = math.Min(out, float64(l.GSL))
		}
	}
	return out
}

// most is the largest GSL of all layers but the input.
func most(layers []experiment.Layer) float64 {
	out := math.Inf(-1)
	for _, l := range layers {
		if l.Layer > 0 {
			out = math.Max(out, float64(l.GSL))
		}
	}
	return out
}
