package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// Panel is a map of [Board], [Boards] or [Slider].
type Panel struct {
	Title  string    // text above the map, at most 32 characters, such as "GCN: ROC-AUC 0.71"
	Values []float64 // a value for each cell, row by row from the top left; a cell with NaN stays white
	Marks  []int     // the indices in Values of the cells that get a dot, for example the cells with mines
}

// Strip is a row of maps of [Boards]. The place of a panel without Values stays empty.
type Strip struct {
	Title  string // text to the left of the maps
	Panels []Panel
}

// Board draws maps of the same grid of cells side by side, for example the truth and the predictions on a Minesweeper
// graph. valueName says what the values and the dots are. All maps share one scale, from 0 to 1 if all values lie
// there. Maps are readable up to 256 x 256 cells; a few thousand take little space in a notebook.
func Board(id, title, valueName string, rows, cols int, panels []Panel) *Figure {
	b := &board{title: title, valueName: valueName, rows: rows, cols: cols,
		strips: []Strip{{Panels: panels}}, axes: true}
	return b.figure(id)
}

// Boards draws rows of small maps, as [Board], for example a row for each network and a column for each layer.
func Boards(id, title, valueName string, rows, cols int, strips []Strip) *Figure {
	b := &board{title: title, valueName: valueName, rows: rows, cols: cols, strips: strips}
	return b.figure(id)
}

// These are sizes and distances in CSS pixels.
const (
	mapSize   = 256 // approximately the longer side of a map
	mapLeft   = 62  // left edge of the first map
	mapTop    = 78
	gap       = 44  // distance between two maps
	smallSize = 140 // the longer side of a small map is at most this long
	smallGap  = 14
	pageWidth = 1080 // largest width of a row of maps, unless this would make cells smaller than a pixel

	least      = 600 // the smallest width of a figure
	scaleWidth = 140 // width of the bar that shows the colour scale
)

type board struct {
	title, valueName string
	rows, cols       int
	strips           []Strip
	axes             bool // whether numbers of rows and columns stand at the edges of the maps

	// In CSS pixels: the side of a cell, the left edge of the first maps, and the distances from map to map.
	cell, start, across, down int
	low, high                 float64 // the values at the two ends of the colour scale
}

// placed is a map with its upper left corner.
type placed struct {
	Panel
	left, top int
}

func (b *board) figure(id string) *Figure {
	f := &Figure{ID: id, Title: b.title, chart: b, err: b.check()}
	if f.err != nil {
		return f
	}
	if b.low == b.high { // the ends of the colour scale are not set yet
		b.low, b.high = bounds(b.strips)
	}
	b.layout()
	most := 0
	var said []string
	for _, s := range b.strips {
		var names []string
		for _, p := range s.Panels {
			if p.Values != nil {
				names = append(names, p.Title)
			}
		}
		most = max(most, len(s.Panels))
		text := strings.Join(names, ", ")
		if s.Title != "" {
			text = s.Title + ": " + text
		}
		said = append(said, text)
	}
	f.Alt = fmt.Sprintf("Maps of %s on a board of %d x %d cells: %s.",
		b.valueName, b.rows, b.cols, strings.Join(said, "; "))
	f.Width = max(least, b.start+(most-1)*b.across+b.cols*b.cell+24, headWidth(b.title),
		b.start+int(textWidth(b.valueName+"   "+number(b.low)+number(b.high), 13))+scaleWidth+48)
	f.Height = mapTop + (len(b.strips)-1)*b.down + b.rows*b.cell + 60
	if b.axes {
		f.Height += 46
	}
	return f
}

func (b *board) check() error {
	if b.rows < 1 || b.cols < 1 {
		return fmt.Errorf("a board of %d x %d cells can't be drawn: give at least one row and one column",
			b.rows, b.cols)
	}
	maps := 0
	for _, s := range b.strips {
		for _, p := range s.Panels {
			if p.Values == nil && !b.axes {
				continue
			}
			maps++
			if len(p.Values) != b.rows*b.cols {
				return fmt.Errorf("panel %q has %d values for a board of %d x %d cells: "+
					"give one for each cell, row by row", p.Title, len(p.Values), b.rows, b.cols)
			}
			for _, m := range p.Marks {
				if m < 0 || m >= len(p.Values) {
					return fmt.Errorf("panel %q has a mark at cell %d, of %d cells: give places in Values",
						p.Title, m, len(p.Values))
				}
			}
		}
	}
	if maps == 0 {
		return fmt.Errorf("no maps to draw: give at least one Panel")
	}
	return nil
}

// layout computes sizes and distances, with space for the titles.
func (b *board) layout() {
	size, between, font := mapSize, gap, 13.0
	b.start = mapLeft
	most, name, title := 0, 0.0, 0.0
	for _, s := range b.strips {
		most, name = max(most, len(s.Panels)), max(name, 13*widthOf(s.Title, true))
		for _, p := range s.Panels {
			title = max(title, textWidth(p.Title, font))
		}
	}
	if !b.axes {
		b.start = 24 + int(math.Ceil(name))
		between, size = smallGap, smallSize
	}
	size = min(size, (pageWidth-b.start-24+between)/most-between)
	b.cell = max(1, int(math.Round(float64(size)/float64(max(b.rows, b.cols)))))
	b.across = max(b.cols*b.cell+between, int(title)+12)
	b.down = b.rows*b.cell + 42
}

func textWidth(text string, size float64) float64 { return size * widthOf(text, false) }

// headWidth is the width that a figure needs for its title.
func headWidth(title string) int { return int(15*widthOf(title, true)) + 36 }

func (b *board) maps() []placed {
	var maps []placed
	for i, s := range b.strips {
		for k, p := range s.Panels {
			if p.Values != nil {
				maps = append(maps, placed{p, b.start + k*b.across, mapTop + i*b.down})
			}
		}
	}
	return maps
}

// bounds are the ends of the colour scale: 0 and 1 if all values lie there, else the smallest and largest, apart.
func bounds(strips []Strip) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range strips {
		for _, p := range s.Panels {
			for _, v := range p.Values {
				if significant(v, 3) != nil {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	switch {
	case low > high, low >= 0 && high <= 1: // low > high means that no value is a finite number
		return 0, 1
	case low == high:
		return low, low + 1
	}
	return low, high
}

func (b *board) option() map[string]any {
	return b.frame(func(p Panel) any {
		triples := make([][3]any, len(p.Values))
		for k, v := range rounded(p.Values) {
			triples[k] = [3]any{k % b.cols, k / b.cols, v}
		}
		return triples
	})
}

// compact lists values row by row, a third of the triples (column, row, value) that the script makes of them.
func (b *board) compact() (map[string]any, string) {
	return b.frame(func(p Panel) any { return rounded(p.Values) }), fmt.Sprintf(`option => {
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
	option := b.frame(empty)
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

// empty is for a [board.frame] without values.
func empty(Panel) any { return nil }

// frame is the option with the data of each map. Each map has a grid, which in ECharts is the area of a pair of axes.
func (b *board) frame(data func(Panel) any) map[string]any {
	maps := b.maps()
	option := base(b.title,
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item"}),
		charts.WithVisualMapOpts(opts.VisualMap{
			Type: "continuous", Calculable: opts.Bool(false), Min: float32(b.low), Max: float32(b.high),
			InRange: &opts.VisualMapInRange{Color: shades}, Orient: "horizontal", Left: px(b.start - 5), Bottom: "12",
			Text: []string{number(b.high), b.valueName + "   " + number(b.low)}, TextStyle: text(13),
		}))
	hidden := map[string]any{"show": false}
	cells := func(i, n int) map[string]any {
		labels := axisLabel()
		labels["show"], labels["interval"] = b.axes, spacing(n)-1
		return axis(i, map[string]any{"type": "category", "data": count(n), "axisLabel": labels, "axisLine": hidden,
			"axisTick": hidden})
	}
	lift := 26
	if b.axes {
		lift = 32
	}
	titles := []any{option["title"]}
	var grids, xAxes, yAxes, all, dots []any
	for i, p := range maps {
		grids = append(grids, map[string]any{"show": true, "left": px(p.left), "top": px(p.top),
			"width": px(b.cols * b.cell), "height": px(b.rows * b.cell),
			"z": 5, "borderColor": line}) // the border of the map is on top of the cells
		x, y := cells(i, b.cols), cells(i, b.rows)
		y["inverse"] = true
		if b.axes {
			name(x, "column", 28)
		}
		if b.axes && i == 0 {
			name(y, "row", 34)
		}
		xAxes, yAxes = append(xAxes, x), append(yAxes, y)
		s := map[string]any{"id": fmt.Sprintf("map%d", i), "name": p.Title, "type": "heatmap", "xAxisIndex": i,
			"yAxisIndex": i, "data": data(p.Panel), "progressive": 0} // all cells are drawn at once
		if b.ruled() {
			s["itemStyle"] = map[string]any{"borderColor": "#ffffff", "borderWidth": 1}
		}
		all = append(all, s)
		if len(p.Marks) > 0 {
			dots = append(dots, b.dots(i, p.Marks))
		}
		titles = append(titles, map[string]any{
			"text": p.Title, "left": p.left - 5, "top": p.top - lift, "textStyle": text(13),
		})
	}
	for i, s := range b.strips {
		if s.Title != "" {
			titles = append(titles, map[string]any{
				"text": s.Title, "left": 7, "top": mapTop + i*b.down + b.rows*b.cell/2 - 13, "textStyle": boldText(13),
			})
		}
	}
	option["visualMap"].([]any)[0].(map[string]any)["seriesIndex"] = count(len(maps))
	option["title"], option["grid"], option["xAxis"], option["yAxis"] = titles, grids, xAxes, yAxes
	option["series"] = append(all, dots...)
	return option
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

func (b *board) numbers() [][]string {
	lines := [][]string{{"strip", "map", "row", "column", "value", "marked", "value_name"}}
	for _, s := range b.strips {
		for _, p := range s.Panels {
			marked := make([]bool, len(p.Values))
			for _, m := range p.Marks {
				marked[m] = true
			}
			for i, v := range p.Values {
				lines = append(lines, []string{s.Title, p.Title, strconv.Itoa(i / b.cols), strconv.Itoa(i % b.cols), exact(v),
					strconv.FormatBool(marked[i]), b.valueName})
			}
		}
	}
	return lines
}

// palette has white, for missing values and lines between cells, and the 255 colours of the scale.
var palette = func() color.Palette {
	p := color.Palette{color.White}
	const steps = 255
	for i := range steps {
		p = append(p, shadeAt(float64(i)/(steps-1)))
	}
	return p
}()

// picture draws the cells of a map as a PNG image in a data URL.
func (b *board) picture(p Panel) (string, error) {
	// If there are no lines between the cells, each cell is one pixel of the image, and the browser enlarges the image.
	// Otherwise the image has the size of the map on the page: each cell has side x side pixels. Of these, drawn x
	// drawn pixels have the colour of the cell. The others stay white: they are the lines.
	side, drawn := 1, 1
	if b.ruled() {
		side, drawn = b.cell, b.cell-1
	}
	m := image.NewPaletted(image.Rect(0, 0, b.cols*side, b.rows*side), palette)
	for i, v := range p.Values {
		if significant(v, 3) == nil {
			continue
		}
		share := (v - b.low) / (b.high - b.low)
		index := uint8(1 + share*float64(len(palette)-2) + 0.5)
		for dy := range drawn {
			for dx := range drawn {
				m.SetColorIndex(i%b.cols*side+dx, i/b.cols*side+dy, index)
			}
		}
	}
	var file bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&file, m); err != nil {
		return "", err
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(file.Bytes()), nil
}

// ruled tells whether there are lines between cells.
func (b *board) ruled() bool { return b.cell >= 8 }
