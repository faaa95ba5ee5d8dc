package report

import (
	"encoding/xml"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/report/raster"
)

// SVG is the table as a picture, as on a page but with all rows, grey for italic, and no backgrounds.
func (t *Table) SVG() (string, error) { return t.cut(math.Inf(1), math.Inf(1)) }

// PNG is the picture in pixels: scale 1 has the size on a page; 3 is enough for print.
func (t *Table) PNG(scale float64) ([]byte, error) {
	return drawn(t.SVG, "table", t.ID, func(svg string) ([]byte, error) { return raster.PNG(svg, scale) })
}

// PDF is the picture as a page of its size.
func (t *Table) PDF() ([]byte, error) {
	return drawn(t.SVG, "table", t.ID, raster.PDF)
}

// These are sizes and distances in a table's picture, in CSS pixels.
const (
	tableFont = 13.0
	cellPad   = 8.0  // empty space to the left and to the right of the text of a cell
	lineStep  = 16.0 // from one line to the next
	rowPad    = 6.0  // empty space above and below the lines of a row, together
	noteWidth = 720.0
)

// sheet is a table ready to be drawn, with broken lines and widths; the first column has the labels.
type sheet struct {
	*written
	head   sheetRow
	rows   []sheetRow
	widths []float64
}

// sheetRow has lines of words for each column.
type sheetRow [][][]word

// lay breaks the texts into lines. The table must have no mistake.
func (w *written) lay() *sheet {
	s := &sheet{written: w, widths: make([]float64, len(w.Columns)+1)}
	s.head = sheetRow{linesOf("<b>"+w.Corner+"</b>", tableFont)}
	for _, c := range w.Columns {
		text := "<b>" + c.Name + "</b>"
		if c.Unit != "" {
			text += "<br/><small>" + c.Unit + "</small>"
		}
		s.head = append(s.head, linesOf(text, tableFont))
	}
	for _, r := range w.Rows {
		row := sheetRow{linesOf(r.Label, tableFont)}
		for _, c := range r.Cells {
			row = append(row, linesOf(strings.Join(c.Lines, inHTML.newline), tableFont))
		}
		s.rows = append(s.rows, row)
	}
	for _, row := range append([]sheetRow{s.head}, s.rows...) {
		for k, cell := range row {
			for _, line := range cell {
				s.widths[k] = max(s.widths[k], widthOfAll(line)+2*cellPad)
			}
		}
	}
	for _, g := range w.Spans { // widen the last column of a group if the group's name is wider than the columns
		last := g.First + g.Size
		missing := tableFont*widthOf(html.UnescapeString(g.Group), true) + 2*cellPad - sum(s.widths[g.First+1:last+1])
		s.widths[last] += max(0, missing)
	}
	return s
}

func sum(values []float64) (all float64) {
	for _, v := range values {
		all += v
	}
	return all
}

// cut is the upper left part of the picture.
func (t *Table) cut(width, height float64) (string, error) {
	w, err := t.written(inHTML)
	if err != nil {
		return "", err
	}
	s := w.lay()
	all := sum(s.widths)
	var b strings.Builder
	title := word{text: t.Title, size: 15, bold: true, colour: ink}
	b.WriteString(svgOf([]word{title}, cellPad, 22))
	y := 34.0
	rule := func(thick float64) {
		fmt.Fprintf(&b, `<rect x="0" y="%.1f" width="%.1f" height="%g" fill="%s"></rect>`+"\n", y, all, thick, ink)
	}
	rule(2)
	if s.Spans != nil {
		y += lineStep + rowPad
		for _, g := range s.Spans {
			name := word{text: html.UnescapeString(g.Group), size: tableFont, bold: true, colour: ink}
			left, room := sum(s.widths[:g.First+1]), sum(s.widths[g.First+1:g.First+g.Size+1])
			b.WriteString(svgOf([]word{name}, left+(room-name.width())/2, y))
		}
	}
	y = s.draw(&b, s.head, y)
	for i, row := range s.rows {
		if y > height {
			break
		}
		if s.Rows[i].Begins {
			rule(1)
		}
		if group := s.Rows[i].Group; s.Rows[i].Begins && group != "" {
			y += lineStep + 4
			b.WriteString(svgOf([]word{{text: html.UnescapeString(group), size: tableFont, colour: quiet}}, cellPad, y-2))
		}
		y = s.draw(&b, row, y)
	}
	rule(2)
	y += 8
	for _, note := range s.Notes {
		note = strings.Replace(note, ">Italic</i>", ">Grey</i>", 1)
		for _, line := range wrapped(slices.Concat(linesOf(note, 12)...), max(all, noteWidth)) {
			y += lineStep
			b.WriteString(svgOf(line, cellPad, y))
		}
		y += 4
	}
	width, height = min(width, max(all, title.width()+cellPad, noteWidth)+2*cellPad), min(height, y+12)
	return fmt.Sprintf(`<svg width="%.0f" height="%.0f" xmlns="http://www.w3.org/2000/svg" version="1.1" `+
		`font-family="%s">`+"\n"+`<rect width="%[1]f" height="%[2]f" fill="#ffffff"></rect>`+"\n%[4]s</svg>\n", width,
		height, fontFamily, b.String()), nil
}

// Thumbnail is a PNG, some 360 pixels wide, of a figure or of the upper left part of a table.
func Thumbnail(item Item) ([]byte, error) {
	const width, height, pixels = 560, 336, 360
	switch it := item.(type) {
	case *Table:
		svg, err := it.cut(width, height)
		if err != nil {
			return nil, err
		}
		return raster.PNG(svg, float64(pixels)/width)
	case *Figure:
		return it.PNG(float64(pixels) / float64(it.Width))
	}
	return nil, fmt.Errorf("report: there are thumbnails of figures and tables only")
}

// draw writes a row at y, and returns where it ends.
func (s *sheet) draw(b *strings.Builder, row sheetRow, y float64) float64 {
	left, deepest := 0.0, y
	for k, cell := range row {
		at := y + rowPad/2
		for _, line := range cell {
			at += lineStep
			x := left + cellPad
			switch width := widthOfAll(line); {
			case k > 0 && s.Columns[k-1].Align == "center":
				x = left + (s.widths[k]-width)/2
			case k > 0 && s.Columns[k-1].Align == "right":
				x = left + s.widths[k] - cellPad - width
			}
			b.WriteString(svgOf(line, x, at-3))
		}
		deepest = max(deepest, at+rowPad/2)
		left += s.widths[k]
	}
	return deepest
}

// word is a part of a line of text in one style.
type word struct {
	text             string
	size, rise       float64 // rise is the height above the line, for example of an exponent
	bold, underlined bool
	colour           string
}

func (p word) width() float64 { return p.size * widthOf(p.text, p.bold) }

func (p word) alike(other word) bool {
	p.text, other.text = "", ""
	return p == other
}

// linesOf breaks HTML as [inHTML] writes it into lines of words; size is that of normal text.
func linesOf(markup string, size float64) (lines [][]word) {
	looks := []word{{size: size, colour: ink}}
	lines = [][]word{nil}
	for d := xml.NewDecoder(strings.NewReader("<p>" + markup + "</p>")); ; {
		token, err := d.Token()
		if err != nil {
			return lines // the text has ended; other errors are impossible, since inHTML writes well-formed XML
		}
		last := looks[len(looks)-1]
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "b":
				last.bold = true
			case "u":
				last.underlined = true
			case "i":
				last.colour = quiet
			case "small":
				last.size *= 0.85
			case "sup":
				last.size, last.rise = 0.75*last.size, last.rise+0.35*last.size
			case "sub":
				last.size, last.rise = 0.75*last.size, last.rise-0.2*last.size
			case "br":
				lines = append(lines, nil)
			}
			looks = append(looks, last)
		case xml.EndElement:
			looks = looks[:len(looks)-1]
		case xml.CharData:
			last.text = string(t)
			lines[len(lines)-1] = append(lines[len(lines)-1], last)
		}
	}
}

func widthOfAll(line []word) (width float64) {
	for _, p := range line {
		width += p.width()
	}
	return width
}

// wrapped breaks a line at spaces and changes of style, to at most the width most where that is possible.
func wrapped(line []word, most float64) (lines [][]word) {
	lines = [][]word{nil}
	at := 0.0
	for _, p := range line {
		for _, part := range strings.SplitAfter(p.text, " ") {
			p.text = part
			width := p.width()
			if at > 0 && at+width > most {
				lines, at = append(lines, nil), 0
			}
			at += width
			line := &lines[len(lines)-1]
			if last := len(*line) - 1; last >= 0 && (*line)[last].alike(p) {
				(*line)[last].text += p.text
			} else {
				*line = append(*line, p)
			}
		}
	}
	return lines
}

// svgOf is the SVG of a line that begins at (x, y). It states each word's width, which so does not depend on the
// browser's font.
func svgOf(line []word, x, y float64) string {
	var b strings.Builder
	for _, p := range line {
		width, weight := p.width(), ""
		if p.bold {
			weight = ` font-weight="bold"`
		}
		if shown := strings.TrimSpace(p.text); shown != "" {
			blanks := p.text[:len(p.text)-len(strings.TrimLeft(p.text, " "))]
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-size="%.4g" fill="%s"%s textLength="%.1f" `+
				`lengthAdjust="spacingAndGlyphs" xml:space="preserve">%s</text>`+"\n", x+p.size*widthOf(blanks, p.bold),
				y-p.rise, p.size, p.colour, weight, p.size*widthOf(shown, p.bold), html.EscapeString(shown))
		}
		if p.underlined {
			fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="1" fill="%s"></rect>`+"\n", x, y+2, width,
				p.colour)
		}
		x += width
	}
	return b.String()
}
