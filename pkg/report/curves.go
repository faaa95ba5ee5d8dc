package report

import (
	"fmt"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// Series is one curve: the points (X[i], Y[i]) in order. A Y that is no number leaves a gap.
type Series struct {
	Name string
	X, Y []float64
}

// Axes chooses the scales of [Curves]; the zero value is linear in both directions.
type Axes struct {
	LogX, LogY bool // logarithmic, base 10: all values must be above zero
}

// Curves draws lines over a shared pair of axes, for example a loss over epochs.
//
// xName and yName name the axes with their units, as in "time [s]". More than six curves repeat colours: draw two
// figures instead. At most one Axes may follow.
func Curves(id, title, xName, yName string, series []Series, axes ...Axes) *Figure {
	c := &curves{title: title, xName: xName, yName: yName, series: series}
	if len(axes) > 0 {
		c.axes = axes[0]
	}
	var names []string
	for _, s := range series {
		names = append(names, s.Name)
	}
	return &Figure{
		ID: id, Title: title, Width: 760, Height: 380,
		Alt:   fmt.Sprintf("Curves of %s over %s: %s.", yName, xName, strings.Join(names, ", ")),
		chart: c, err: c.check(),
	}
}

type curves struct {
	title, xName, yName string
	series              []Series
	axes                Axes
}

func (c *curves) check() error {
	if len(c.series) == 0 {
		return fmt.Errorf("no curves to draw: give at least one Series")
	}
	for _, s := range c.series {
		if len(s.X) != len(s.Y) {
			return fmt.Errorf("curve %q has %d values of X and %d of Y: give one Y for each X", s.Name, len(s.X), len(s.Y))
		}
		for i := range s.X {
			if c.axes.LogX && s.X[i] <= 0 || c.axes.LogY && s.Y[i] <= 0 {
				return fmt.Errorf("curve %q has the point (%g, %g), which a logarithmic axis can't show: leave it out, or use a linear axis", s.Name, s.X[i], s.Y[i])
			}
		}
	}
	return nil
}

func (c *curves) option() map[string]any {
	chart := charts.NewLine()
	chart.SetGlobalOptions(common(c.title)...)
	chart.SetGlobalOptions(
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(len(c.series) > 1), Left: "12", Top: "38", ItemWidth: 36, TextStyle: text(13)}),
		charts.WithGridOpts(opts.Grid{Left: "78", Right: "28", Top: c.top(), Bottom: "62"}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
		charts.WithXAxisOpts(opts.XAxis{
			Name: c.xName, NameLocation: "middle", NameGap: 34, Type: scale(c.axes.LogX), Scale: opts.Bool(true), Max: furthest(c.axes.LogX),
			AxisLabel: label(), AxisLine: axisLine(), SplitLine: &opts.SplitLine{Show: opts.Bool(false)},
		}),
		charts.WithYAxisOpts(opts.YAxis{
			Name: c.yName, NameLocation: "middle", NameGap: 54, Type: scale(c.axes.LogY), Scale: opts.Bool(true),
			AxisLabel: label(), AxisLine: axisLine(),
			SplitLine: &opts.SplitLine{Show: opts.Bool(true), LineStyle: &opts.LineStyle{Color: faint}},
		}),
	)
	for i, s := range c.series {
		stroke := strokes[i%len(strokes)]
		points := make([]opts.LineData, len(s.X))
		for k := range s.X {
			points[k].Value = []any{significant(s.X[k], 6), significant(s.Y[k], 5)}
		}
		symbol := "none"
		if len(points) == 1 {
			symbol = "circle" // a single point has no line to show
		}
		chart.AddSeries(s.Name, points, charts.WithLineChartOpts(opts.LineChart{Symbol: symbol}),
			charts.WithLineStyleOpts(opts.LineStyle{Color: stroke.colour, Type: stroke.dash, Width: 2}),
			charts.WithItemStyleOpts(opts.ItemStyle{Color: stroke.colour}))
	}
	option := finish(chart.JSON())
	// The legend shows dashes, not symbols that the curves don't have.
	option["legend"].(map[string]any)["itemStyle"] = map[string]any{"opacity": 0}
	return option
}

// top leaves a row for the legend, where there is one: it never covers data.
func (c *curves) top() string {
	if len(c.series) > 1 {
		return "72"
	}
	return "48"
}

func (c *curves) compact() (map[string]any, string) { return c.option(), "" }

func (c *curves) static() (map[string]any, error) { return c.option(), nil }

func scale(log bool) string {
	if log {
		return "log"
	}
	return "value"
}

// furthest ends a linear axis at the last point; a logarithmic one goes on to the next power of ten.
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
