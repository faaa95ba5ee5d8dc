package report

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"
)

// markup writes cells of a table in one format. plain escapes any text; the others take text of the format.
type markup struct {
	plain                          func(string) string
	bold, underlined, italic       func(string) string
	small, raised, lowered, symbol func(string) string // symbol is for a letter in a formula
	newline                        string
	longest                        int // longest line in small print, in characters; 0 stands for no limit
}

func wrap(before, after string) func(string) string {
	return func(text string) string { return before + text + after }
}

// written is a table whose texts are all in one format.
type written struct {
	Title, Corner string
	Spans         []span
	Columns       []writtenColumn
	Rows          []writtenRow
	Notes         []string
}

type writtenColumn struct{ Group, Name, Unit, Align string }

// writtenRow is a row. Begins says that it is the first of its group.
type writtenRow struct {
	Begins       bool
	Group, Label string
	Cells        []writtenCell
}

// writtenCell is a cell, line by line: the first is the cell itself, others are in small print. Hover and Style are
// for HTML.
type writtenCell struct {
	Lines        []string
	Hover, Style string
}

// written writes the table in a format. A missing number is a dash with the letter of its reason (see [Table.marks]).
func (t *Table) written(m markup) (*written, error) {
	if err := t.problem(); err != nil {
		return nil, fmt.Errorf("report: table %q: %w", t.ID, err)
	}
	ranks := t.ranks()
	marks, reasons := t.marks()
	w := &written{Title: m.plain(t.Title), Corner: m.plain(t.Corner), Spans: t.spans(m),
		Notes: t.notes(m, ranks, marks, reasons)}
	for k, c := range t.Columns {
		w.Columns = append(w.Columns, writtenColumn{m.plain(c.Group), m.plain(c.Name), m.plain(c.Unit), t.align(k)})
	}
	for i, r := range t.Rows {
		row := writtenRow{Begins: i == 0 || r.Group != t.Rows[i-1].Group, Group: m.plain(r.Group), Label: m.plain(r.Label)}
		for k, c := range r.Cells {
			cell := writtenCell{Lines: []string{m.line(c, ranks[i][k], marks)}, Style: c.shadeHTML(),
				Hover: m.plain(strings.Join(c.hover, "; "))}
			for _, line := range c.below {
				cell.Lines = append(cell.Lines, m.fine(line, marks))
			}
			row.Cells = append(row.Cells, cell)
		}
		w.Rows = append(w.Rows, row)
	}
	return w, nil
}

// fine writes a line in small print, broken where it would make the column too wide.
func (m markup) fine(c Cell, marks map[string]string) string {
	all := m.small
	m.small = wrap("", "")
	if c.kind != kindWords || m.longest == 0 {
		return all(m.line(c, unranked, marks))
	}
	var parts []string
	for _, c.text = range Lines(c.text, m.longest) {
		parts = append(parts, all(m.line(c, unranked, marks)))
	}
	return strings.Join(parts, m.newline)
}

// Lines breaks a text at spaces into lines of at most width characters; a longer word gets a line of its own.
func Lines(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line+word) >= width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

func (m markup) line(c Cell, r rank, marks map[string]string) string {
	var text string
	switch {
	case c.kind == kindEmpty:
		return ""
	case c.kind == kindWords:
		text = m.plain(c.text)
	case c.kind == kindFormula:
		text = m.formula(c.text)
	case c.kind == kindMissing:
		text = m.plain("–") + m.raised(m.plain(marks[c.text]))
	default:
		text = m.number(c, r)
	}
	if c.published {
		text = m.italic(text)
	}
	return text
}

func (m markup) number(c Cell, r rank) string {
	value := strings.ReplaceAll(c.value(), "-", "−")
	var text string
	switch c.kind {
	case kindScientific:
		factor, power, _ := strings.Cut(value, "e")
		power = strings.TrimLeft(strings.Replace(power, "+", "", 1), "0")
		if strings.HasPrefix(power, "−") {
			power = "−" + strings.TrimLeft(strings.TrimPrefix(power, "−"), "0")
		}
		text = m.plain(factor)
		if power != "" {
			text += m.plain(" × 10") + m.raised(m.plain(power))
		}
	case kindDifference:
		text = m.plain(arrowed(c.mean, value))
	default:
		text = m.plain(value)
	}
	switch r {
	case first:
		text = m.bold(text)
	case second:
		text = m.underlined(text)
	}
	if !math.IsNaN(c.std) {
		text += m.small(m.plain(fmt.Sprintf(" ± %.*f", c.decimals, c.std)))
	}
	return text
}

// arrowed writes a difference with sign and arrow, unless it is rounded to zero.
func arrowed(v float64, value string) string {
	switch {
	case strings.Trim(value, "−0.") == "":
		return strings.TrimPrefix(value, "−")
	case v < 0:
		return value + " (↓)"
	}
	return "+" + value + " (↑)"
}

func (m markup) formula(text string) string {
	pieces, err := parseFormula(text)
	if err != nil {
		panic(err) // this cannot happen, since Table.check has parsed the formula
	}
	var b strings.Builder
	for _, p := range pieces {
		var written strings.Builder
		for _, c := range strings.ReplaceAll(p.text, "-", "−") {
			if s := string(c); 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
				written.WriteString(m.symbol(s))
			} else {
				written.WriteString(m.plain(s))
			}
		}
		switch p.level {
		case subscript:
			b.WriteString(m.lowered(written.String()))
		case superscript:
			b.WriteString(m.raised(written.String()))
		default:
			b.WriteString(written.String())
		}
	}
	return b.String()
}

// marks gives a letter to each reason why a number is missing, in the order of reading.
func (t *Table) marks() (marks map[string]string, reasons []string) {
	marks = map[string]string{}
	see := func(c Cell) {
		if c.kind == kindMissing && marks[c.text] == "" {
			reasons = append(reasons, c.text)
			marks[c.text] = letters(len(reasons))
		}
	}
	for _, r := range t.Rows {
		for _, c := range r.Cells {
			see(c)
			for _, line := range c.below {
				see(line)
			}
		}
	}
	return marks, reasons
}

// letters is the n-th of a, b, ..., z, aa, ab, ..., from 1.
func letters(n int) string {
	if n == 0 {
		return ""
	}
	return letters((n-1)/26) + string(rune('a'+(n-1)%26))
}

// notes are all lines below the table, with explanations of bold, underlined, italic and missing numbers.
func (t *Table) notes(m markup, ranks [][]rank, marks map[string]string, reasons []string) []string {
	var notes []string
	for _, n := range t.Notes {
		notes = append(notes, m.plain(n))
	}
	var legend []string
	seen := map[rank]bool{}
	published := false
	for i, r := range t.Rows {
		for k, c := range r.Cells {
			seen[ranks[i][k]] = true
			published = published || c.published
			for _, line := range c.below {
				published = published || line.published
			}
		}
	}
	if seen[first] {
		legend = append(legend, m.bold(m.plain("Bold"))+m.plain(": the best of the column."))
	}
	if seen[second] {
		legend = append(legend, m.underlined(m.plain("Underlined"))+m.plain(": the second best."))
	}
	if published {
		legend = append(legend, m.italic(m.plain("Italic"))+m.plain(": published numbers, not computed here."))
	}
	if len(legend) > 0 {
		notes = append(notes, strings.Join(legend, " "))
	}
	for _, reason := range reasons {
		notes = append(notes, m.raised(m.plain(marks[reason]))+m.plain(" Missing: "+reason))
	}
	return notes
}

// span is the common heading of Size columns from First on.
type span struct {
	Group       string
	First, Size int
}

// spans are the headings above the columns, nil if no column has one.
func (t *Table) spans(m markup) (spans []span) {
	for i, c := range t.Columns {
		if n := len(spans); n > 0 && t.Columns[i-1].Group == c.Group {
			spans[n-1].Size++
		} else {
			spans = append(spans, span{m.plain(c.Group), i, 1})
		}
	}
	if len(spans) == 1 && spans[0].Group == "" {
		return nil
	}
	return spans
}

// align is "center" for columns with differences, spreads or small print, or with missing numbers alone; "right" for
// other numbers; else "left".
func (t *Table) align(column int) string {
	numbers, missing, words := false, false, false
	for _, r := range t.Rows {
		c := r.Cells[column]
		if c.numeric() && (!math.IsNaN(c.std) || c.kind == kindDifference) || c.kind != kindEmpty && len(c.below) > 0 {
			return "center"
		}
		numbers = numbers || c.numeric()
		missing = missing || c.kind == kindMissing
		words = words || c.kind == kindWords
	}
	switch {
	case numbers:
		return "right"
	case missing && !words:
		return "center"
	}
	return "left"
}

// Text is the Markdown, or the text of an error.
func (t *Table) Text() string {
	text, err := t.Markdown()
	if err != nil {
		return err.Error()
	}
	return text
}

// piece is a part of a formula on one level.
type piece struct {
	text  string
	level level
}

type level int

const (
	onLine level = iota
	subscript
	superscript
)

// known are the characters of a formula, beside _ and ^ for subscripts and superscripts, and braces around these.
const known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 +-=|()[]/.,<>"

var formulaPiece = regexp.MustCompile(`^(?:([_^])(?:\{([^}]+)\}|([^{]))|[^_^]+)`)

func parseFormula(text string) ([]piece, error) {
	var pieces []piece
	for rest := text; rest != ""; {
		found := formulaPiece.FindStringSubmatch(rest)
		if found == nil {
			return nil, fmt.Errorf("in the formula %q a _ or ^ has nothing behind it, or a { no }", text)
		}
		p := piece{found[0], map[string]level{"_": subscript, "^": superscript}[found[1]]}
		if p.level != onLine {
			p.text = found[2] + found[3]
		}
		if odd := strings.Trim(p.text, known); odd != "" {
			return nil, fmt.Errorf("the formula %q holds %q, which formulas don't know: "+
				"see Formula for what they may hold", text, odd)
		}
		pieces, rest = append(pieces, p), rest[len(found[0]):]
	}
	return pieces, nil
}
