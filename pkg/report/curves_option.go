package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

func (c *curves) option() map[string]any {
	px := strconv.Itoa
	chart := charts.NewLine()
	chart.SetGlobalOptions(common(c.title)...)
	chart.SetGlobalOptions(
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(len(c.looks) > 1), Left: "12", Top: "38",
			ItemWidth: legendIcon, ItemHeight: 11, TextStyle: text(13)}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
	)
	// In ECharts, a grid is the area of one pair of axes, and each panel needs a grid of its own. go-echarts makes axes
	// for one grid only. These axes are removed here. Then the loop adds a grid and a pair of axes for each panel.
	chart.XAxisList, chart.YAxisList = nil, nil
	for i, p := range c.plots {
		left, width := c.left(i)
		chart.GridList = append(chart.GridList,
			opts.Grid{Left: px(left), Width: px(width), Top: px(c.top), Height: px(panelHeight)})
		chart.ExtendXAxis(opts.XAxis{
			GridIndex: i, Name: p.XName, NameLocation: "middle", NameGap: 34, Type: scale(p.base() > 0),
			Scale: opts.Bool(true),
			Max:   furthest(p.base() > 0), AxisLabel: label(), AxisLine: axisLine(),
			SplitLine: &opts.SplitLine{Show: opts.Bool(false)},
		})
		chart.ExtendYAxis(opts.YAxis{
			GridIndex: i, Name: p.YName, NameLocation: "middle", NameGap: 54, Type: scale(p.Axes.LogY),
			Scale:     opts.Bool(true),
			AxisLabel: label(), AxisLine: axisLine(),
			SplitLine: &opts.SplitLine{Show: opts.Bool(true), LineStyle: &opts.LineStyle{Color: faint}},
		})
	}
	option := finish(chart.JSON())
	titles := []any{option["title"]}
	var all []any
	for i, p := range c.plots {
		left, width := c.left(i)
		if p.Title != "" {
			style := text(13)
			style.FontWeight = "bold"
			titles = append(titles, map[string]any{
				"text": p.Title, "left": left + width/2, "textAlign": "center", "top": c.top - 30, "textStyle": style})
		}
		if base := p.base(); base > 0 {
			option["xAxis"].([]any)[i].(map[string]any)["logBase"] = base
		}
		if r := p.Axes.RangeY; r != [2]float64{} {
			axis := option["yAxis"].([]any)[i].(map[string]any)
			axis["min"], axis["max"] = r[0], r[1]
		}
		for _, s := range p.Series {
			all = append(all, c.series(i, s)...)
		}
	}
	option["title"], option["series"] = titles, all
	var names []any
	for _, l := range c.looks {
		entry := map[string]any{"name": l.name}
		if l.style == Line || l.style == Fitted {
			entry["itemStyle"] = map[string]any{"opacity": 0} // the legend shows no symbol, as the curve has none
		}
		names = append(names, entry)
	}
	option["legend"].(map[string]any)["data"] = names
	return option
}

// series are ECharts' series for a curve of panel i, and for its error bars or band.
func (c *curves) series(i int, s Series) []any {
	l := c.look(s.Name)
	stroke := strokes[l.stroke%len(strokes)]
	points := make([][]any, len(s.X))
	var spread [][]any
	for k := range s.X {
		points[k] = []any{significant(s.X[k], 6), significant(s.Y[k], 5)}
		if len(s.Spread) > 0 && significant(s.Spread[k], 3) != nil && !math.IsNaN(s.Y[k]) {
			points[k] = append(points[k], significant(s.Spread[k], 3))
			spread = append(spread,
				[]any{points[k][0], significant(s.Y[k]-s.Spread[k], 5), significant(s.Y[k]+s.Spread[k], 5)})
		}
	}
	curve := map[string]any{
		"name": s.Name, "type": "line", "xAxisIndex": i, "yAxisIndex": i, "data": points, "symbol": "none",
		"lineStyle": map[string]any{"color": stroke.colour, "type": stroke.dash, "width": 2},
		"itemStyle": map[string]any{"color": stroke.colour},
	}
	switch {
	case l.style == Fitted:
		curve["lineStyle"] = map[string]any{"color": stroke.colour, "type": []int{2, 3}, "width": 1.2}
	case l.style != Line, len(points) == 1: // a single point is marked, since a line of one point is invisible
		curve["symbol"], curve["symbolSize"], curve["showAllSymbol"] = stroke.symbol, 8, true
	}
	if l.style == Points || l.style == Published {
		curve["lineStyle"] = map[string]any{"opacity": 0, "width": 0}
	}
	if l.style == Published {
		curve["symbol"], curve["symbolSize"], curve["z"] = hollow(stroke.symbol), 11, 4
		curve["itemStyle"] = map[string]any{"color": stroke.colour, "borderWidth": 2}
	}
	described := []any{curve}
	if len(spread) > 0 {
		kind := "bars"
		if s.Band {
			kind = "band"
		}
		described = append(described, map[string]any{
			"name": s.Name, "type": "custom", "spread": kind, "xAxisIndex": i, "yAxisIndex": i,
			"data": spread, "silent": true,
			"itemStyle": map[string]any{"color": stroke.colour},
			"encode":    map[string]any{"x": 0, "y": []int{1, 2}}, "z": 1,
		})
	}
	return described
}

func (c *curves) look(name string) look {
	for _, l := range c.looks {
		if l.name == name {
			return l
		}
	}
	return look{}
}

func hollow(symbol string) string { return "empty" + strings.ToUpper(symbol[:1]) + symbol[1:] }

func scale(log bool) string {
	if log {
		return "log"
	}
	return "value"
}

// furthest ends a linear axis at the largest X, and lets ECharts end a logarithmic one at a power.
func furthest(log bool) any {
	if log {
		return nil
	}
	return "dataMax"
}

func label() *opts.AxisLabel {
	return &opts.AxisLabel{Show: opts.Bool(true), Color: ink, FontSize: 12, FontFamily: fontFamily}
}

func axisLine() *opts.AxisLine {
	return &opts.AxisLine{Show: opts.Bool(true), LineStyle: &opts.LineStyle{Color: line}}
}
