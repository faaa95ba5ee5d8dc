package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
)

// smoothness makes figure 3: the GSL of the states of trained models, layer by layer. It shows the paper's models, and
// models with known remedies for over-smoothing, such as PairNorm.
func smoothness(v *View) *Document {
	d := &Document{}
	p := v.Profile.Smoothness
	d.note("The paper: %s", statement(3).Says)
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

// smooth returns the curves of one model for figure 3. A curve has the GSL after each layer of one process. If the
// model has a reverse process, the curve of the reverse process is the first. The result says is a note with the
// model's GSL and test metric. If there is no run of the model, there are no curves, and the note gives the reason.
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

// followed returns the training of a model for figure 3. This training records the GSL after each of several layers.
func (v *View) followed(dataset string, m runs.Model) runs.Answer[runs.Trained] {
	p := v.Profile.Smoothness
	t := runs.Training(dataset, p.Split, m.Config)
	t.Follow = &runs.Follow{Layers: p.Layers}
	return runs.Ask[runs.Trained](v.View, t)
}

// remedies draws a panel for each remedy for over-smoothing, such as PairNorm. The models with this remedy differ in
// the number of layers. The panel has a curve for each of them: the GSL after each layer.
//
// The argument called paper has the curves of the paper's models. Its first curve is that of a reverse process. Each
// panel also shows this curve, for comparison, up to the largest number of layers of the models in the panel. All
// panels have the same vertical scale.
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
			panel.Series = append(panel.Series, upTo(paper[0], deepest))
		}
		plots = append(plots, panel)
	}
	for i := range plots {
		plots[i].Axes = report.Axes{Log2X: true, RangeY: [2]float64{math.Floor(10*low) / 10, 1}}
	}
	return plots
}

// upTo returns the part of a curve that goes up to the given number of layers.
func upTo(s report.Series, layers int) report.Series {
	n := 0
	for n < len(s.X) && s.X[n] <= float64(layers) {
		n++
	}
	s.X, s.Y = s.X[:n], s.Y[:n]
	return s
}

// line returns a curve with the GSL after each layer. It leaves out layer 0, which is the encoded input, and layers
// whose GSL is NaN.
func line(name string, layers []runs.Layer) report.Series {
	s := report.Series{Name: name}
	for _, l := range layers {
		if l.Layer > 0 && !math.IsNaN(float64(l.GSL)) {
			s.X, s.Y = append(s.X, float64(l.Layer)), append(s.Y, float64(l.GSL))
		}
	}
	return s
}

// at returns the GSL after l layers, or NaN if it was not recorded.
func at(layers []runs.Layer, l int) float64 {
	if i := slices.IndexFunc(layers, func(x runs.Layer) bool { return x.Layer == l }); i >= 0 {
		return float64(layers[i].GSL)
	}
	return math.NaN()
}

// least returns the smallest GSL of some layers. The argument called of is a function that tells whether a layer
// counts.
func least(layers []runs.Layer, of func(runs.Layer) bool) float64 {
	out := math.Inf(1)
	for _, l := range layers {
		if of(l) {
			out = math.Min(out, float64(l.GSL))
		}
	}
	return out
}

// most returns the largest GSL of all layers except layer 0, which is the encoded input.
func most(layers []runs.Layer) float64 {
	out := math.Inf(-1)
	for _, l := range layers {
		if l.Layer > 0 {
			out = math.Max(out, float64(l.GSL))
		}
	}
	return out
}
