package search

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/report"
)

// Figures returns two figures: the best validation metric during the search, and the trials that went well on parallel
// axes of settings and metric.
func (r *Result) Figures() []*report.Figure { return []*report.Figure{r.progress(), r.parallel()} }

// progress plots the best validation metric, and the score of each trial at each rung, against the epochs and against
// the hours that all trials together had taken.
func (r *Result) progress() *report.Figure {
	plot := func(name string, spent func(Reached) float64) report.Plot {
		best := report.Series{Name: "best so far"}
		at := make([]report.Series, len(r.Schedule.Rungs))
		top := math.Inf(-1)
		for _, reached := range r.scored() {
			x, y, s := spent(reached), float64(reached.Val), &at[reached.Rung]
			s.X, s.Y = append(s.X, x), append(s.Y, y)
			if y > top && len(best.X) > 0 { // the curve stays level up to here
				best.X, best.Y = append(best.X, x), append(best.Y, top)
			}
			top = max(top, y)
			best.X, best.Y = append(best.X, x), append(best.Y, top)
		}
		p := report.Plot{XName: name, YName: "validation " + r.measure(), Series: []report.Series{best}}
		for i, s := range at {
			s.Name, s.Style = fmt.Sprintf("epoch %d", r.Schedule.Rungs[i]), report.Points
			if len(s.X) > 0 {
				p.Series = append(p.Series, s)
			}
		}
		return p
	}
	return report.Plots("search-best", fmt.Sprintf("Search of %s on %s", r.Model, r.Dataset),
		plot("epochs of all trials", func(at Reached) float64 { return float64(at.Epochs) }),
		plot("hours of training", func(at Reached) float64 { return at.Seconds / 3600 }))
}

func (r *Result) measure() string {
	if r.Metric == data.ROCAUC {
		return "ROC-AUC"
	}
	return r.Metric
}

// parallel has an axis for each setting with more than one possible value.
func (r *Result) parallel() *report.Figure {
	keys := r.axes()
	var axes []report.ParallelAxis
	for _, key := range keys {
		d := r.Dimensions[key]
		axis := report.ParallelAxis{Name: key, Log: d.Log != nil, Whole: d.Integer != nil}
		for _, value := range d.Choice {
			axis.Categories = append(axis.Categories, text(value))
		}
		axes = append(axes, axis)
	}
	axes = append(axes, report.ParallelAxis{Name: "validation"})
	low, high := math.Inf(1), math.Inf(-1)
	for _, t := range r.Trials {
		if v := float64(t.Val); !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	var lines []report.ParallelLine
	for _, t := range slices.Backward(r.Top(len(r.Trials))) { // the best trial is drawn last, on top of the others
		if v := float64(t.Val); !math.IsNaN(v) {
			lines = append(lines, report.ParallelLine{Name: fmt.Sprintf("trial %d, %.0f epochs", t.Trial, t.Epochs),
				Values: append(r.coordinates(t, keys, axes), v), Value: (v - low) / (high - low),
				Marked: t.Trial == r.Best.Trial})
		}
	}
	return report.Parallel("search-settings", fmt.Sprintf("Settings of %s on %s, and what came of them", r.Model,
		r.Dataset), axes, lines)
}

// axes returns the settings with more than one possible value, by name. A trial may lack a setting with a condition
// ([Range.When]), and its line then has a gap there. A value between two gaps would not be visible, so these axes are
// kept apart as far as there are others to put between them.
func (r *Result) axes() (keys []string) {
	var always, sometimes []string
	for _, key := range slices.Sorted(maps.Keys(r.Dimensions)) {
		switch d := r.Dimensions[key]; {
		case len(d.Choice) == 1:
		case len(d.When) > 0:
			sometimes = append(sometimes, key)
		default:
			always = append(always, key)
		}
	}
	for _, key := range sometimes {
		two := min(2, len(always))
		keys = append(append(keys, always[:two]...), key)
		always = always[two:]
	}
	return append(keys, always...)
}

// coordinates returns the trial's values; for choices, the place in their list, and NaN for a setting that it lacks.
func (r *Result) coordinates(t Trial, keys []string, axes []report.ParallelAxis) []float64 {
	out := make([]float64, len(keys))
	for i, key := range keys {
		value, has := t.Settings[key]
		out[i] = math.NaN()
		if at := slices.Index(axes[i].Categories, text(value)); has && at >= 0 {
			out[i] = float64(at)
		} else if has && axes[i].Categories == nil {
			fmt.Sscan(string(value), &out[i]) // without categories, the values are numbers
		}
	}
	return out
}

// Draw writes each figure as SVG and PNG into a folder, and an HTML page with both. It returns the names of the files.
func (r *Result) Draw(dir string) (names []string, err error) {
	if err := files.Writable(dir); err != nil {
		return nil, err
	}
	keep := func(name string, content []byte, err error) error {
		if err != nil {
			return err
		}
		names = append(names, name)
		return files.WriteText(filepath.Join(dir, name), content)
	}
	var items []report.Item
	for _, f := range r.Figures() {
		items = append(items, f)
		svg, err := f.SVG()
		if err := keep(f.ID+".svg", []byte(svg), err); err != nil {
			return nil, err
		}
		png, err := f.PNG(2)
		if err := keep(f.ID+".png", png, err); err != nil {
			return nil, err
		}
	}
	page, err := report.Page(fmt.Sprintf("Search of %s on %s", r.Model, r.Dataset), items...)
	err = keep("search.html", []byte(page), err)
	return names, err
}
