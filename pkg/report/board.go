package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// Panel is one of the maps that [Board] draws side by side.
type Panel struct {
	Title  string    // above the map, 32 characters at most; a score fits, as in "GCN: ROC-AUC 0.71"
	Values []float64 // one per cell, row by row from the top left; what is no number stays white
}

// Board draws maps of the same grid of square cells side by side, for example the truth and predictions for each
// node of a Minesweeper board.
//
// valueName says what the values are, with their unit. All panels share one colour scale, from light to dark: 0 to
// 1 where all values lie in between, else from the least to the greatest value. Boards of up to 256 cells a side
// are readable, and one of some thousand cells still takes little room in a saved notebook.
func Board(id, title, valueName string, rows, cols int, panels []Panel) *Figure {
	b := &board{title: title, valueName: valueName, rows: rows, cols: cols, panels: panels}
	f := &Figure{ID: id, Title: title, chart: b, err: b.check()}
	if f.err != nil {
		return f
	}
	b.low, b.high = bounds(panels)
	b.cell = max(1, int(math.Round(mapSize/float64(max(rows, cols)))))
	var names []string
	for _, p := range panels {
		names = append(names, p.Title)
	}
	f.Alt = fmt.Sprintf("Maps of %s on a board of %d x %d cells: %s.", valueName, rows, cols, strings.Join(names, "; "))
	f.Width, f.Height = max(least, b.left(len(panels))-gap+24), mapTop+rows*b.cell+106
	return f
}

// Distances in CSS pixels.
const (
	mapSize = 256 // the longer side of a map, about
	mapLeft = 62  // of the first map
	mapTop  = 78
	gap     = 44  // between two maps
	least   = 600 // width that the titles and the colour scale need
)

type board struct {
	title, valueName string
	rows, cols       int
	panels           []Panel

	cell      int     // side of a cell, in CSS pixels
	low, high float64 // ends of the colour scale
}

func (b *board) check() error {
	if b.rows < 1 || b.cols < 1 {
		return fmt.Errorf("a board of %d x %d cells can't be drawn: give at least one row and one column", b.rows, b.cols)
	}
	if len(b.panels) == 0 {
		return fmt.Errorf("no maps to draw: give at least one Panel")
	}
	for _, p := range b.panels {
		if len(p.Values) != b.rows*b.cols {
			return fmt.Errorf("panel %q has %d values for a board of %d x %d cells: give one for each cell, row by row", p.Title, len(p.Values), b.rows, b.cols)
		}
	}
	return nil
}

// bounds of the colour scale: see Board.
func bounds(panels []Panel) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		for _, v := range p.Values {
			if significant(v, 3) != nil {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	switch {
	case low > high, low >= 0 && high <= 1: // the first: no numbers at all
		return 0, 1
	case low == high:
		return low, low + 1
	}
	return low, high
}

// left edge of map i.
func (b *board) left(i int) int { return mapLeft + i*(b.cols*b.cell+gap) }

func (b *board) option() map[string]any {
	option := b.frame()
	for i, p := range b.panels {
		triples := make([][3]any, len(p.Values))
		for k, v := range b.rounded(p) {
			triples[k] = [3]any{k % b.cols, k / b.cols, v}
		}
		series(option, i)["data"] = triples
	}
	return option
}

// compact lists values row by row: a third of what triples take.
func (b *board) compact() (map[string]any, string) {
	option := b.frame()
	for i, p := range b.panels {
		series(option, i)["data"] = b.rounded(p)
	}
	return option, fmt.Sprintf(`option => {
  for (const s of option.series) s.data = s.data.map((v, i) => [i %% %[1]d, Math.floor(i / %[1]d), v === null ? '-' : v]);
  option.tooltip.formatter = p => p.seriesName + '<br>row ' + p.value[1] + ', column ' + p.value[0] + ': <b>' + p.value[2] + '</b>';
}`, b.cols)
}

// static draws each map as one image: thousands of rectangles would take megabytes.
func (b *board) static() (map[string]any, error) {
	option := b.frame()
	var images []any
	for i, p := range b.panels {
		picture, err := b.picture(p)
		if err != nil {
			return nil, fmt.Errorf("drawing panel %q: %w", p.Title, err)
		}
		images = append(images, map[string]any{
			"type": "image", "silent": true, "left": b.left(i), "top": mapTop,
			"style": map[string]any{"image": picture, "width": b.cols * b.cell, "height": b.rows * b.cell},
		})
	}
	option["graphic"] = images
	return option, nil
}

// frame is the board without its cells: titles, axes, colour scale.
func (b *board) frame() map[string]any {
	px := strconv.Itoa
	heat := charts.NewHeatMap()
	heat.SetGlobalOptions(common(b.title)...)
	heat.SetGlobalOptions(
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item"}),
		charts.WithVisualMapOpts(opts.VisualMap{
			Type: "continuous", Calculable: opts.Bool(false), Min: float32(b.low), Max: float32(b.high),
			InRange: &opts.VisualMapInRange{Color: shades}, Orient: "horizontal", Left: px(mapLeft - 5), Bottom: "12",
			Text: []string{number(b.high), b.valueName + "   " + number(b.low)}, TextStyle: text(13),
		}))
	// go-echarts knows one grid's axes; the other grids' are added here, one pair per panel.
	heat.XAxisList, heat.YAxisList = nil, nil
	for i, p := range b.panels {
		heat.GridList = append(heat.GridList, opts.Grid{
			Show: opts.Bool(true), Left: px(b.left(i)), Top: px(mapTop), Width: px(b.cols * b.cell), Height: px(b.rows * b.cell),
		})
		rowName := ""
		if i == 0 {
			rowName = "row"
		}
		heat.ExtendXAxis(opts.XAxis{Type: "category", Data: count(b.cols), GridIndex: i, AxisLabel: label(),
			Name: "column", NameLocation: "middle", NameGap: 28})
		heat.ExtendYAxis(opts.YAxis{Type: "category", Data: count(b.rows), GridIndex: i, AxisLabel: label(),
			Name: rowName, NameLocation: "middle", NameGap: 34, Inverse: opts.Bool(true)})
		heat.AddSeries(p.Title, nil)
	}
	option := finish(heat.JSON())
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
		grid["z"], grid["borderColor"] = 5, line // a border above the cells
	}
	titles := []any{option["title"]}
	for i, p := range b.panels {
		s := series(option, i)
		s["xAxisIndex"], s["yAxisIndex"] = i, i
		s["progressive"] = 0 // draw all cells at once
		if b.ruled() {
			s["itemStyle"] = map[string]any{"borderColor": "#ffffff", "borderWidth": 1}
		}
		titles = append(titles, map[string]any{
			"text": p.Title, "left": b.left(i) - 5, "top": mapTop - 32, "textStyle": text(13),
		})
	}
	option["title"] = titles
	return option
}

func (b *board) rounded(p Panel) []any {
	values := make([]any, len(p.Values))
	for i, v := range p.Values {
		values[i] = significant(v, 3)
	}
	return values
}

func series(option map[string]any, i int) map[string]any {
	return option["series"].([]any)[i].(map[string]any)
}

// spacing between numbered rows or columns: a round number, for at most twelve labels.
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
