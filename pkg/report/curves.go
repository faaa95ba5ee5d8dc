package report

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// Series is one curve: the points (X[i], Y[i]) in order, with a gap where Y[i] is NaN or infinite.
type Series struct {
	Name string
	X, Y []float64

	// Spread, if not nil, has for each point half the length of its error bar, or NaN for none; with Band, a band
	// around the curve takes the place of the bars.
	Spread []float64
	Band   bool

	Style Style

	// Like, unless "", is another series of the panel whose colour this one has, such as published values beside ours.
	Like string
}

// Style is how the points of a [Series] are drawn.
type Style int

const (
	Line      Style = iota // a line
	Marked                 // a line with a mark at each point
	Points                 // marks without a line
	Published              // hollow marks without a line: values from a publication
	Fitted                 // a thin dashed line, for a fit or for comparison
)

// Axes are the scales of [Curves] or a [Plot]: linear if zero.
type Axes struct {
	LogX, LogY bool       // logarithmic, with ticks at powers of 10: all values must be above zero
	Log2X      bool       // logarithmic, with ticks at powers of 2 or 4 (1, 4, 16, ..., 1024), for numbers of layers
	RangeY     [2]float64 // smallest and largest Y shown; chosen automatically if both are zero
}

// Plot is a panel of [Plots]: a pair of axes with curves.
type Plot struct {
	Title        string
	XName, YName string // with their units, as in "time [s]"
	Series       []Series
	Axes         Axes
}

func (p Plot) check() error {
	if len(p.Series) == 0 {
		return fmt.Errorf("no curves to draw: give at least one Series")
	}
	var names []string
	for _, s := range p.Series {
		if slices.Contains(names, s.Name) {
			return fmt.Errorf("two curves are named %q: give each a name of its own", s.Name)
		}
		names = append(names, s.Name)
		if err := s.check(p.Axes); err != nil {
			return err
		}
		if s.Like != "" && !slices.ContainsFunc(p.Series, func(o Series) bool { return o.Name == s.Like && o.Like == "" }) {
			return fmt.Errorf("curve %q is to look like %q, which is no other curve of its panel with a look of its own",
				s.Name, s.Like)
		}
	}
	if r := p.Axes.RangeY; r[0] > r[1] || p.Axes.LogY && r != [2]float64{} && r[0] <= 0 {
		return fmt.Errorf("RangeY is %g to %g: give the least value first, "+
			"and values above zero for a logarithmic axis", r[0], r[1])
	}
	return nil
}

func (s Series) check(axes Axes) error {
	if len(s.X) != len(s.Y) {
		return fmt.Errorf("curve %q has %d values of X and %d of Y: give one Y for each X", s.Name, len(s.X), len(s.Y))
	}
	if len(s.Spread) != 0 && len(s.Spread) != len(s.Y) {
		return fmt.Errorf("curve %q has %d values of Y and %d of Spread: give one for each, or none at all",
			s.Name, len(s.Y), len(s.Spread))
	}
	for i := range s.X {
		if (axes.LogX || axes.Log2X) && s.X[i] <= 0 || axes.LogY && s.Y[i] <= 0 {
			return fmt.Errorf("curve %q has the point (%g, %g), which a logarithmic axis can't show: "+
				"leave it out, or use a linear axis", s.Name, s.X[i], s.Y[i])
		}
		if len(s.Spread) > 0 && s.Spread[i] < 0 {
			return fmt.Errorf("curve %q has the spread %g: give one that is not negative, or NaN for none",
				s.Name, s.Spread[i])
		}
	}
	return nil
}

// base is that of the logarithm of the X axis, 0 for a linear axis. ECharts puts a tick at each power.
func (p Plot) base() int {
	switch {
	case p.Axes.LogX:
		return 10
	case !p.Axes.Log2X:
		return 0
	}
	low, high := math.Inf(1), 0.0
	for _, s := range p.Series {
		for _, x := range s.X {
			low, high = min(low, x), max(high, x)
		}
	}
	if high > 64*low { // a narrow panel has space for seven ticks only
		return 4
	}
	return 2
}

//go:embed curves.js
var curvesJS string

// Curves draws curves over one pair of axes, linear unless given. Names have their units, as in "time [s]". There are
// six colours: draw more curves as two figures.
func Curves(id, title, xName, yName string, series []Series, axes ...Axes) *Figure {
	p := Plot{XName: xName, YName: yName, Series: series}
	if len(axes) > 0 {
		p.Axes = axes[0]
	}
	return Plots(id, title, p)
}

// Plots draws one to three panels side by side. Curves of the same name look the same, and share one entry of the
// legend.
func Plots(id, title string, plots ...Plot) *Figure {
	c := &curves{title: title, plots: plots}
	f := &Figure{ID: id, Title: title, chart: c, err: c.check()}
	if f.err != nil {
		return f
	}
	var said []string
	for _, p := range plots {
		var names []string
		for _, s := range p.Series {
			names = append(names, s.Name)
		}
		text := fmt.Sprintf("Curves of %s over %s: %s", p.YName, p.XName, strings.Join(names, ", "))
		if p.Title != "" {
			text = p.Title + ": " + strings.ToLower(text[:1]) + text[1:]
		}
		said = append(said, text)
	}
	f.Alt = strings.Join(said, "; ") + "."
	f.Width = max(760, len(plots)*panelWidth, headWidth(title))
	c.width = f.Width
	c.layout()
	f.Height = c.top + panelHeight + 62
	return f
}

// These are sizes in CSS pixels.
const (
	panelWidth  = 480 // width of a panel with its axis, if there are several panels
	panelHeight = 246 // height of the area in which the curves are drawn
	axisWidth   = 78  // width of the space to the left of a panel, for its axis
	legendRow   = 24
	legendIcon  = 36
)

type curves struct {
	title string
	plots []Plot

	width, top int
	looks      []look // how to draw the curves; one entry for each name, in the order of the legend
}

// look is how curves of a name are drawn; stroke is an index into strokes.
type look struct {
	name   string
	style  Style
	stroke int
}

func (c *curves) check() error {
	if len(c.plots) < 1 || len(c.plots) > 3 {
		return fmt.Errorf("%d panels can't be drawn side by side: give one to three", len(c.plots))
	}
	for _, p := range c.plots {
		if err := p.check(); err != nil {
			return err
		}
	}
	return nil
}

// layout decides how curves look, and makes space for the legend above the panels.
func (c *curves) layout() {
	strokes := map[string]int{}
	for _, p := range c.plots {
		for _, s := range p.Series {
			if _, ok := strokes[s.Name]; !ok && s.Like == "" {
				strokes[s.Name] = len(strokes)
			}
		}
	}
	for _, p := range c.plots {
		for _, s := range p.Series {
			if !slices.ContainsFunc(c.looks, func(l look) bool { return l.name == s.Name }) {
				own := s.Name
				if s.Like != "" {
					own = s.Like
				}
				c.looks = append(c.looks, look{s.Name, s.Style, strokes[own]})
			}
		}
	}
	c.top = 48
	if len(c.looks) > 1 {
		c.top += legendRow * c.legendRows()
	}
	if slices.ContainsFunc(c.plots, func(p Plot) bool { return p.Title != "" }) {
		c.top += 24
	}
}

// legendRows follows ECharts, which begins a new row when the next name does not fit.
func (c *curves) legendRows() int {
	rows, x := 1, 0.0
	room := float64(c.width - 24)
	for _, l := range c.looks {
		item := legendIcon + 5 + textWidth(l.name, 13)
		if x > 0 && x+item > room {
			rows, x = rows+1, 0
		}
		x += item + 10
	}
	return rows
}

// left is the left edge and the width of panel i's area.
func (c *curves) left(i int) (left, width int) {
	share := c.width / len(c.plots)
	return i*share + axisWidth, share - axisWidth - 28
}

func (c *curves) compact() (map[string]any, string) { return c.option(), strings.TrimSpace(curvesJS) }

func (c *curves) static() (map[string]any, string, error) {
	return c.option(), strings.TrimSpace(curvesJS), nil
}

func (c *curves) option() map[string]any {
	option := base(c.title,
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(len(c.looks) > 1), Left: "12", Top: "38",
			ItemWidth: legendIcon, ItemHeight: 11, TextStyle: text(13)}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}))
	titles := []any{option["title"]}
	var grids, xAxes, yAxes, all, names []any
	for i, p := range c.plots { // each panel has a grid, which in ECharts is the area of a pair of axes
		left, width := c.left(i)
		grids = append(grids, map[string]any{"left": px(left), "width": px(width), "top": px(c.top),
			"height": px(panelHeight)})
		if p.Title != "" {
			titles = append(titles, map[string]any{"text": p.Title, "left": left + width/2, "textAlign": "center",
				"top": c.top - 30, "textStyle": boldText(13)})
		}
		x := axis(i, map[string]any{"type": scale(p.base() > 0), "scale": true, "splitLine": map[string]any{"show": false}})
		name(x, p.XName, 34)
		if base := p.base(); base > 0 {
			x["logBase"] = base // the axis ends at a power
		} else {
			x["max"] = "dataMax"
		}
		y := axis(i, map[string]any{"type": scale(p.Axes.LogY), "scale": true,
			"splitLine": map[string]any{"show": true, "lineStyle": map[string]any{"color": faint}}})
		name(y, p.YName, 54)
		if r := p.Axes.RangeY; r != [2]float64{} {
			y["min"], y["max"] = r[0], r[1]
		}
		xAxes, yAxes = append(xAxes, x), append(yAxes, y)
		for _, s := range p.Series {
			all = append(all, c.series(i, s)...)
		}
	}
	for _, l := range c.looks {
		entry := map[string]any{"name": l.name}
		if l.style == Line || l.style == Fitted {
			entry["itemStyle"] = map[string]any{"opacity": 0} // the legend shows no symbol, as the curve has none
		}
		names = append(names, entry)
	}
	option["title"], option["grid"], option["xAxis"], option["yAxis"] = titles, grids, xAxes, yAxes
	option["legend"].(map[string]any)["data"], option["series"] = names, all
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

func (c *curves) numbers() [][]string {
	lines := [][]string{{"panel", "curve", "x", "y", "spread", "x_name", "y_name"}}
	for _, p := range c.plots {
		for _, s := range p.Series {
			for i := range s.X {
				spread := ""
				if len(s.Spread) > 0 {
					spread = exact(s.Spread[i])
				}
				lines = append(lines, []string{p.Title, s.Name, exact(s.X[i]), exact(s.Y[i]), spread, p.XName, p.YName})
			}
		}
	}
	return lines
}
