package report

import (
	"fmt"
	"math"
	"strings"
)

// Panel is one of the maps that [Board], [Boards] and [Slider] draw.
type Panel struct {
	Title  string    // text above the map, at most 32 characters, such as "GCN: ROC-AUC 0.71"
	Values []float64 // a value for each cell, row by row from the top left; a cell with NaN stays white
	Marks  []int     // the indices in Values of the cells that get a dot, for example the cells with mines
}

// Strip is one of the rows of maps that [Boards] draws. If one of its Panels has no Values, the place of this map in
// the row stays empty.
type Strip struct {
	Title  string // text to the left of the maps
	Panels []Panel
}

// Board draws maps of the same grid of square cells side by side, for example the truth and the predictions for each
// node of a Minesweeper graph.
//
// The colour of a cell shows its value, and cells with marks have a dot. The argument valueName is a text that says
// what the values are, with their unit, and what the dots mean. All maps share one colour scale, from light to dark.
// The scale goes from 0 to 1 if all values lie in this range, otherwise from the smallest to the largest value. Maps
// are readable up to 256 x 256 cells. A map of a few thousand cells takes little space in a saved notebook.
func Board(id, title, valueName string, rows, cols int, panels []Panel) *Figure {
	b := &board{title: title, valueName: valueName, rows: rows, cols: cols,
		strips: []Strip{{Panels: panels}}, axes: true}
	return b.figure(id)
}

// Boards draws several rows of small maps, all of the same grid of cells. For example, each row of maps stands for a
// network, and each column of maps stands for a layer. Then each map shows the predictions of one network after one
// layer. The argument strips has the rows of maps, and the other arguments are as for [Board]. At the edges of these
// small maps, the rows and columns of cells are not numbered.
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

	// These are lengths in CSS pixels. cell is the side of a cell. start is the left edge of the first map of each row.
	// across is the distance from the left edge of a map to the left edge of the next map in the row. down is the
	// distance from the upper edge of a map to the upper edge of the map below it.
	cell, start, across, down int
	low, high                 float64 // the values at the two ends of the colour scale
}

// placed is a map with the position of its upper left corner.
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

// layout computes the sizes of maps and cells, and the distances between maps. The distances are large enough for the
// titles of the maps.
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

// textWidth returns the width of a line of text in a font of the given size, in the same unit as the size.
func textWidth(text string, size float64) float64 { return size * widthOf(text, false) }

// headWidth returns the width in CSS pixels that a figure needs for its title.
func headWidth(title string) int { return int(15*widthOf(title, true)) + 36 }

// maps returns all maps with their positions, row by row from the top left.
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

// bounds returns the values at the two ends of the colour scale. These are 0 and 1 if all values of all maps lie in
// this range, otherwise the smallest and the largest value. If these two are equal, high is low + 1.
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
