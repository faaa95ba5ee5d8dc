package report

import (
	"fmt"
	"math"
	"strings"
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
