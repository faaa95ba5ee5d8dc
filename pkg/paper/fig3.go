package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
)

// smoothness makes figure 3.
func smoothness(v *View) *Document {
	d := &Document{}
	p := v.Profile.Smoothness
	for _, dataset := range p.Datasets {
		var series []report.Series
		for _, m := range p.Models {
			lines, _ := v.smooth(dataset, m, titleOf(m.Model)) // the verdicts have the same numbers as the note
			series = append(series, lines...)
		}
		if len(series) > 0 {
			d.Figures = append(d.Figures, report.Curves("fig3-"+dataset, v.title("Smoothness over layers, "+dataset),
				"layers", "GSL", series, report.Axes{Log2X: true}))
		}
		if plots := d.remedies(v, dataset, series); len(plots) > 0 {
			d.Figures = append(d.Figures, report.Plots("fig3-"+dataset+"-remedies",
				v.title("Smoothness with remedies for over-smoothing, "+dataset), plots...))
		}
	}
	d.note("GSL is the mean cosine similarity over all pairs of nodes, exactly, of the states of models trained on "+
		"split %d, at the parameters of the best validation metric. %s", p.Split, p.Note)
	return d
}

// smooth returns the curves of GSL of a model, that of the reverse process first, and a note with its GSL and test
// metric, or why there are none.
func (v *View) smooth(dataset string, m runs.Model, title string) (lines []report.Series, says string) {
	a := v.followed(dataset, m)
	f, why := statesOf(a)
	if why != "" {
		return nil, fmt.Sprintf("%s %s on %s: %s.", title, m.Depth(), dataset, why)
	}
	below, above := ruleOf("gsl-reverse"), ruleOf("gsl-plain")
	o := a.Outcome
	if m.HasReverse() {
		says = fmt.Sprintf("%s, %s of %s layers: the GSL of the reverse process is %.3f at most up to %d layers "+
			"(paper: below %g); test %s %.1f %%.", dataset, title, m.Depth(),
			most(f.Reverse), m.Reverse, below.Below, o.Metric, 100*float64(o.Test))
		lines = append(lines, line(fmt.Sprintf("%s, reverse of %d", title, m.Reverse), f.Reverse),
			line(fmt.Sprintf("%s, forward of %d", title, m.Forward), f.Forward))
	} else {
		from := func(l runs.Layer) bool { return l.Layer > above.After }
		says = fmt.Sprintf("%s, %s of %d layers: GSL %.3f after layer %d, at least %.3f after later ones; "+
			"test %s %.1f %%.",
			dataset, title, m.Forward,
			at(f.Forward, above.After), above.After, least(f.Forward, from), o.Metric, 100*float64(o.Test))
		lines = append(lines, line(fmt.Sprintf("%s, %d layers", title, m.Forward), f.Forward))
	}
	return slices.DeleteFunc(lines, func(s report.Series) bool { return len(s.X) == 0 }), says
}

// followed asks for a training of figure 3.
func (v *View) followed(dataset string, m runs.Model) runs.Answer[runs.Trained] {
	p := v.Profile.Smoothness
	t := runs.Training(dataset, p.Split, m.Config)
	t.Trace = &runs.Trace{Layers: p.Layers}
	return runs.Ask[runs.Trained](v.View, t)
}

// remedies makes a panel for each remedy, with a curve for each depth and, for comparison, the paper's curve of a
// reverse process up to the largest of these depths. All panels have the same scale.
func (d *Document) remedies(v *View, dataset string, paper []report.Series) (plots []report.Plot) {
	low := 0.0
	for _, s := range paper[:min(1, len(paper))] {
		low = min(low, slices.Min(s.Y))
	}
	for _, r := range v.Profile.Smoothness.Remedies {
		panel := report.Plot{XName: "layers", YName: "GSL"}
		deepest := 0
		for _, m := range r.Models {
			panel.Title = fmt.Sprintf("%s with %s", titleOf(m.Model), r.Name)
			lines, says := v.smooth(dataset, m, panel.Title)
			d.note("%s", says)
			for _, s := range lines {
				s.Name = fmt.Sprintf("%d layers", m.Forward)
				low, deepest = min(low, slices.Min(s.Y)), max(deepest, m.Forward)
				panel.Series = append(panel.Series, s)
			}
		}
		if len(panel.Series) == 0 {
			continue
		}
		if len(paper) > 0 {
			own := paper[0]
			n := len(own.X)
			for n > 0 && own.X[n-1] > float64(deepest) {
				n--
			}
			own.X, own.Y = own.X[:n], own.Y[:n]
			panel.Series = append(panel.Series, own)
		}
		plots = append(plots, panel)
	}
	for i := range plots {
		plots[i].Axes = report.Axes{Log2X: true, RangeY: [2]float64{math.Floor(10*low) / 10, 1}}
	}
	return plots
}

// line is the GSL over layers, without layer 0, the encoded input, and without NaN.
func line(name string, layers []runs.Layer) report.Series {
	s := report.Series{Name: name}
	for _, l := range layers {
		if l.Layer > 0 && !math.IsNaN(float64(l.GSL)) {
			s.X, s.Y = append(s.X, float64(l.Layer)), append(s.Y, float64(l.GSL))
		}
	}
	return s
}

func at(layers []runs.Layer, l int) float64 {
	if i := slices.IndexFunc(layers, func(x runs.Layer) bool { return x.Layer == l }); i >= 0 {
		return float64(layers[i].GSL)
	}
	return math.NaN()
}

// least is the smallest GSL of the layers that count.
func least(layers []runs.Layer, of func(runs.Layer) bool) float64 {
	out := math.Inf(1)
	for _, l := range layers {
		if of(l) {
			out = math.Min(out, float64(l.GSL))
		}
	}
	return out
}

// most is the largest GSL after layer 0, the encoded input.
func most(layers []runs.Layer) float64 {
	out := math.Inf(-1)
	for _, l := range layers {
		if l.Layer > 0 {
			out = math.Max(out, float64(l.GSL))
		}
	}
	return out
}
