package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/report"
)

// followedLayers are the numbers of layers at which figure 3 measures: all of the first eight, then two in each octave.
func followedLayers(deepest int) []int {
	out := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	for l := 16; l <= deepest; l *= 2 {
		out = append(out, l*3/4, l)
	}
	return out
}

// smoothness is figure 3: the smoothness (GSL) of trained models' states, layer by layer.
func smoothness(v *View) *Document {
	d := &Document{}
	says := claim(3)
	d.note("The paper: %s", says.Says)
	for _, dataset := range []string{"squirrel-filtered", "chameleon-filtered"} {
		var series []report.Series
		add := func(name string, layers []Layer) {
			s := report.Series{Name: name}
			for _, l := range layers {
				if l.Layer > 0 && !math.IsNaN(float64(l.GSL)) {
					s.X, s.Y = append(s.X, float64(l.Layer)), append(s.Y, float64(l.GSL))
				}
			}
			if len(s.X) > 0 {
				series = append(series, s)
			}
		}
		for _, c := range v.Profile.Smoothness(dataset) {
			t := training(dataset, 0, c)
			t.Follow = &Follow{Layers: followedLayers(max(c.Forward, c.Reverse))}
			a := ask[Trained](v, t)
			if !a.ok() || a.Outcome.Followed == nil {
				d.note("%s %s on %s: %s.", c.Model, depths(c), dataset, a.Why)
				continue
			}
			f := a.Outcome.Followed
			if c.Model == models.GCN {
				add(fmt.Sprintf("GCN, %d layers", c.Forward), f.Forward)
				from := func(l Layer) bool { return l.Layer > says.AfterLayers }
				d.note("%s, GCN of %d layers: GSL %.3f after layer %d, at least %.3f from there on; test %s %.1f %%.", dataset, c.Forward,
					at(f.Forward, says.AfterLayers), says.AfterLayers, least(f.Forward, from), a.Outcome.Metric, 100*float64(a.Outcome.Test))
				continue
			}
			add(fmt.Sprintf("GCN+ReP, reverse of %d", c.Reverse), f.Reverse)
			add(fmt.Sprintf("GCN+ReP, forward of %d", c.Forward), f.Forward)
			d.note("%s, GCN+ReP of %s layers: the GSL of the reverse process is %.3f at most up to %d layers (paper: below %g); test %s %.1f %%.", dataset, depths(c),
				most(f.Reverse), c.Reverse, says.Below, a.Outcome.Metric, 100*float64(a.Outcome.Test))
		}
		if len(series) > 0 {
			d.Figures = append(d.Figures, report.Curves("fig3-"+dataset, v.title("Smoothness over layers, "+dataset), "layers", "GSL", series, report.Axes{Log2X: true}))
		}
	}
	d.note("GSL is the mean cosine similarity over all pairs of nodes, exactly, of the states of models trained on split 0, at the parameters of the best validation metric. %s", v.Profile.SmoothnessNote)
	return d
}

// at is the GSL after a number of layers, NaN where it is not known.
func at(layers []Layer, l int) float64 {
	if i := slices.IndexFunc(layers, func(x Layer) bool { return x.Layer == l }); i >= 0 {
		return float64(layers[i].GSL)
	}
	return math.NaN()
}

// least GSL of the layers chosen.
func least(layers []Layer, of func(Layer) bool) float64 {
	out := math.Inf(1)
	for _, l := range layers {
		if of(l) {
			out = math.Min(out, float64(l.GSL))
		}
	}
	return out
}

// most is the largest GSL of all layers but the input.
func most(layers []Layer) float64 {
	out := math.Inf(-1)
	for _, l := range layers {
		if l.Layer > 0 {
			out = math.Max(out, float64(l.GSL))
		}
	}
	return out
}
