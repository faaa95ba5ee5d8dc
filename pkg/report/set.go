package report

import (
	"encoding/xml"
	"fmt"
	"html"
	"strings"
)

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
