package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

func (b *board) option() map[string]any {
	option := b.frame()
	for i, p := range b.maps() {
		triples := make([][3]any, len(p.Values))
		for k, v := range rounded(p.Values) {
			triples[k] = [3]any{k % b.cols, k / b.cols, v}
		}
		series(option, i)["data"] = triples
	}
	return option
}

// compact lists values row by row, a third of the triples (column, row, value) that the script makes of them.
func (b *board) compact() (map[string]any, string) {
	option := b.frame()
	for i, p := range b.maps() {
		series(option, i)["data"] = rounded(p.Values)
	}
	return option, fmt.Sprintf(`option => {
  for (const s of option.series) if (s.type === 'heatmap')
    s.data = s.data.map((v, i) => [i %% %[1]d, Math.floor(i / %[1]d), v === null ? '-' : v]);
  %[2]s
}`, b.cols, boardTooltip)
}

const boardTooltip = `option.tooltip.formatter = p => ` +
	`p.seriesName.replace(/[&<>]/g, c => '&#' + c.charCodeAt(0) + ';') +
    '<br>row ' + p.value[1] + ', column ' + p.value[0] + ': <b>' + p.value[2] + '</b>';`

// static draws each map as one image: thousands of rectangles would take megabytes.
func (b *board) static() (map[string]any, string, error) {
	option := b.frame()
	var images []any
	for _, p := range b.maps() {
		picture, err := b.picture(p.Panel)
		if err != nil {
			return nil, "", fmt.Errorf("drawing panel %q: %w", p.Title, err)
		}
		images = append(images, map[string]any{
			"type": "image", "silent": true, "left": p.left, "top": p.top,
			"style": map[string]any{"image": picture, "width": b.cols * b.cell, "height": b.rows * b.cell},
		})
	}
	// In the option's list of series, the maps come first, and the marks come after them. Here the series of the marks
	// are removed. Instead, all marks are drawn as one SVG path, which takes less space.
	all := option["series"].([]any)
	option["series"] = all[:len(b.maps())]
	if marks := b.marks(); marks != "" {
		option["overlay"] = fmt.Sprintf(`<path d="%s" fill="%s" stroke="#ffffff" stroke-width="%g"></path>`,
			marks, markColour, b.markRim())
	}
	option["graphic"] = images
	return option, "", nil
}

// marks is an SVG path of circles.
func (b *board) marks() string {
	var path strings.Builder
	for _, p := range b.maps() {
		for _, m := range p.Marks {
			x, y := p.left+m%b.cols*b.cell, p.top+m/b.cols*b.cell
			r, middle := b.markSize()/2, float64(b.cell)/2
			fmt.Fprintf(&path, "M%.4g %.4ga%[3]g %[3]g 0 1 0 %[4]g 0a%[3]g %[3]g 0 1 0 %[5]g 0Z",
				float64(x)+middle-r, float64(y)+middle, r, 2*r, -2*r)
		}
	}
	return path.String()
}

func (b *board) markSize() float64 { return math.Round(max(2, 0.34*float64(b.cell))) }
func (b *board) markRim() float64  { return max(0.5, min(1.5, float64(b.cell)/12)) }

// frame is the option without values.
func (b *board) frame() map[string]any {
	px := strconv.Itoa
	maps := b.maps()
	heat := charts.NewHeatMap()
	heat.SetGlobalOptions(common(b.title)...)
	heat.SetGlobalOptions(
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item"}),
		charts.WithVisualMapOpts(opts.VisualMap{
			Type: "continuous", Calculable: opts.Bool(false), Min: float32(b.low), Max: float32(b.high),
			InRange: &opts.VisualMapInRange{Color: shades}, Orient: "horizontal", Left: px(b.start - 5), Bottom: "12",
			Text: []string{number(b.high), b.valueName + "   " + number(b.low)}, TextStyle: text(13),
		}))
	// In ECharts, a grid is the area of one pair of axes, and each map needs a grid of its own. go-echarts makes axes
	// for one grid only. These axes are removed here. Then the loop adds a grid and a pair of axes for each map.
	heat.XAxisList, heat.YAxisList = nil, nil
	for i, p := range maps {
		heat.GridList = append(heat.GridList, opts.Grid{
			Show: opts.Bool(true), Left: px(p.left), Top: px(p.top), Width: px(b.cols * b.cell),
			Height: px(b.rows * b.cell),
		})
		x := opts.XAxis{Type: "category", Data: count(b.cols), GridIndex: i, AxisLabel: label()}
		y := opts.YAxis{Type: "category", Data: count(b.rows), GridIndex: i, AxisLabel: label(),
			Inverse: opts.Bool(true)}
		x.AxisLabel.Show, y.AxisLabel.Show = opts.Bool(b.axes), opts.Bool(b.axes)
		if b.axes {
			x.Name, x.NameLocation, x.NameGap = "column", "middle", 28
		}
		if b.axes && i == 0 {
			y.Name, y.NameLocation, y.NameGap = "row", "middle", 34
		}
		heat.ExtendXAxis(x)
		heat.ExtendYAxis(y)
		heat.AddSeries(p.Title, nil)
	}
	option := finish(heat.JSON())
	b.dress(option, maps)
	return option
}

// dress adds what go-echarts does not support.
func (b *board) dress(option map[string]any, maps []placed) {
	for name, n := range map[string]int{"xAxis": b.cols, "yAxis": b.rows} {
		for _, axis := range option[name].([]any) {
			axis := axis.(map[string]any)
			axis["axisLabel"].(map[string]any)["interval"] = spacing(n) - 1
			axis["axisTick"] = map[string]any{"show": false}
			axis["axisLine"] = map[string]any{"show": false}
		}
	}
	for _, grid := range option["grid"].([]any) {
		grid := grid.(map[string]any)
		grid["z"], grid["borderColor"] = 5, line // draw the border of the map on top of the cells
	}
	titles, scaled := []any{option["title"]}, []int{}
	for i, p := range maps {
		s := series(option, i)
		s["id"] = fmt.Sprintf("map%d", i)
		s["xAxisIndex"], s["yAxisIndex"] = i, i
		s["progressive"] = 0 // draw all cells at once
		if b.ruled() {
			s["itemStyle"] = map[string]any{"borderColor": "#ffffff", "borderWidth": 1}
		}
		scaled = append(scaled, i)
		lift := 32
		if !b.axes {
			lift = 26
		}
		titles = append(titles, map[string]any{
			"text": p.Title, "left": p.left - 5, "top": p.top - lift, "textStyle": text(13),
		})
	}
	for i, s := range b.strips {
		if s.Title != "" {
			bold := text(13)
			bold.FontWeight = "bold"
			titles = append(titles, map[string]any{
				"text": s.Title, "left": 7, "top": mapTop + i*b.down + b.rows*b.cell/2 - 13, "textStyle": bold,
			})
		}
	}
	option["title"] = titles
	option["visualMap"].([]any)[0].(map[string]any)["seriesIndex"] = scaled
	for i, p := range maps {
		if len(p.Marks) > 0 {
			option["series"] = append(option["series"].([]any), b.dots(i, p.Marks))
		}
	}
}

// dots are the marks of map i: orange with a white rim, visible on light and dark cells and in grey print.
func (b *board) dots(i int, marks []int) map[string]any {
	var data [][2]int
	for _, m := range marks {
		data = append(data, [2]int{m % b.cols, m / b.cols})
	}
	return map[string]any{
		"name": "marks", "type": "scatter", "xAxisIndex": i, "yAxisIndex": i, "data": data, "silent": true, "z": 4,
		"symbol": "circle", "symbolSize": b.markSize(),
		"itemStyle": map[string]any{"color": markColour, "borderColor": "#ffffff",
			"borderWidth": b.markRim(), "opacity": 1},
	}
}

func rounded(values []float64) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = significant(v, 3)
	}
	return list
}

func series(option map[string]any, i int) map[string]any {
	return option["series"].([]any)[i].(map[string]any)
}

// spacing is the smallest of 1, 2, 5, 10, ... by which at most twelve of n rows get a number.
func spacing(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, step := range []int{unit, 2 * unit, 5 * unit} {
			if n <= 12*step {
				return step
			}
		}
	}
}

func count(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
