package report

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

//go:embed parallel.js
var parallelJS string

// ParallelAxis is an axis of [Parallel]. With Categories, a value is an index into them.
type ParallelAxis struct {
	Name       string
	Log        bool // whether the axis is logarithmic; all values must then be above zero
	Whole      bool // whether values are whole numbers; then the labels are, too
	Categories []string
}

// ParallelLine is a line of [Parallel]: a value for each axis, NaN where it has none. Value, from 0 to 1, is how good
// it is: better is darker. Marked lines are thick, in another colour.
type ParallelLine struct {
	Name   string
	Values []float64
	Value  float64
	Marked bool
}

// Parallel draws points of many dimensions as lines across parallel axes, for example the trials of a search: their
// settings, and last their results.
func Parallel(id, title string, axes []ParallelAxis, lines []ParallelLine) *Figure {
	p := &parallel{title: title, axes: axes, lines: lines}
	f := &Figure{ID: id, Title: title, chart: p, err: p.check()}
	var names []string
	for _, a := range axes {
		names = append(names, a.Name)
	}
	f.Alt = fmt.Sprintf("Parallel coordinates of %d points: %s.", len(lines), strings.Join(names, ", "))
	const axisRoom = 112
	f.Width, f.Height = max(760, axisRoom*len(axes), headWidth(title)), 420
	return f
}

type parallel struct {
	title string
	axes  []ParallelAxis
	lines []ParallelLine
}

func (p *parallel) check() error {
	if len(p.axes) < 2 || len(p.lines) == 0 {
		return fmt.Errorf("%d axes and %d lines can't be drawn: give two axes and a line at least",
			len(p.axes), len(p.lines))
	}
	for _, l := range p.lines {
		if len(l.Values) != len(p.axes) {
			return fmt.Errorf("line %q has %d values for %d axes: give one for each", l.Name, len(l.Values), len(p.axes))
		}
		for i, v := range l.Values {
			a := p.axes[i]
			switch {
			case math.IsNaN(v):
			case a.Log && v <= 0:
				return fmt.Errorf("line %q has %g on %s, which a logarithmic axis can't show", l.Name, v, a.Name)
			case len(a.Categories) > 0 && (v != math.Trunc(v) || v < 0 || int(v) >= len(a.Categories)):
				return fmt.Errorf("line %q has %g on %s, which is none of its %d categories", l.Name, v, a.Name,
					len(a.Categories))
			}
		}
	}
	return nil
}

func (p *parallel) option() map[string]any {
	option := base(p.title,
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item"}))
	option["parallel"] = map[string]any{"left": "64", "right": "64", "top": "84", "bottom": "34"}
	var axes, data []any
	for i, a := range p.axes {
		axis := map[string]any{"dim": i, "name": a.Name, "type": scale(a.Log), "scale": true,
			"nameTextStyle": map[string]any{"color": ink, "fontSize": 12}, "nameGap": 12,
			"axisLine":  map[string]any{"lineStyle": map[string]any{"color": line}},
			"axisLabel": map[string]any{"color": ink, "fontSize": 11}}
		if a.Whole {
			axis["minInterval"] = 1
		}
		if n := len(a.Categories); n > 0 { // on a category axis of ECharts, lines could not have gaps
			axis["categories"], axis["min"], axis["max"], axis["interval"] = a.Categories, 0, max(1, n-1), 1
		}
		axes = append(axes, axis)
	}
	for _, l := range p.lines {
		data = append(data, pieces(l)...)
	}
	option["parallelAxis"] = axes
	option["series"] = []any{map[string]any{"type": "parallel", "name": p.title, "data": data}}
	return option
}

// absent is a missing value in ECharts.
const absent = "-"

// pieces cuts a line at each axis on which it has no value; ECharts would draw it across.
func pieces(l ParallelLine) (out []any) {
	values := make([]any, len(l.Values))
	for i, v := range l.Values {
		if values[i] = significant(v, 5); values[i] == nil {
			values[i] = absent
		}
	}
	dark := 0
	if value := min(max(l.Value, 0), 1); !math.IsNaN(value) {
		dark = 1 + int(value*float64(len(shades)-2)+0.5)
	}
	style := map[string]any{"color": shades[dark], "width": 1.5, "opacity": 0.9}
	if l.Marked {
		style = map[string]any{"color": markColour, "width": 3, "opacity": 1}
	}
	for from := 0; from < len(values); from++ {
		to := from
		for to < len(values) && values[to] != absent {
			to++
		}
		if to > from {
			piece := slices.Repeat([]any{absent}, len(values))
			copy(piece[from:to], values[from:to])
			out = append(out, map[string]any{"name": l.Name, "value": piece, "all": values, "lineStyle": style})
		}
		from = to
	}
	return out
}

func (p *parallel) compact() (map[string]any, string) {
	return p.option(), strings.TrimSpace(parallelJS)
}

func (p *parallel) static() (map[string]any, string, error) {
	return p.option(), strings.TrimSpace(parallelJS), nil
}

func (p *parallel) numbers() [][]string {
	head := []string{"line", "good", "marked"}
	for _, a := range p.axes {
		head = append(head, a.Name)
	}
	lines := [][]string{head}
	for _, l := range p.lines {
		line := []string{l.Name, exact(l.Value), strconv.FormatBool(l.Marked)}
		for i, v := range l.Values {
			text := exact(v)
			if names := p.axes[i].Categories; len(names) > 0 && v == v {
				text = names[int(v)]
			}
			line = append(line, text)
		}
		lines = append(lines, line)
	}
	return lines
}
