package report

import (
	_ "embed"
	"fmt"
	"html"
	"strings"
	"text/template"
)

var inHTML = markup{
	plain: html.EscapeString,
	bold:  wrap("<b>", "</b>"), underlined: wrap("<u>", "</u>"), italic: wrap(`<i style="color:`+quiet+`">`, "</i>"),
	small:  wrap("<small>", "</small>"),
	raised: wrap(`<sup style="line-height:0">`, "</sup>"), lowered: wrap(`<sub style="line-height:0">`, "</sub>"),
	symbol:  wrap("<var>", "</var>"),
	newline: "<br/>", longest: 44,
}

//go:embed table.html
var tableText string

// tableHTML takes texts that are escaped. Styles are in the elements, since notebooks remove style sheets: rows are
// white, as notebooks colour every second one, and the first column stays in sight while others scroll.
var tableHTML = template.Must(template.New("table").Funcs(template.FuncMap{
	"ink":    func() string { return ink },
	"font":   func() string { return fontFamily },
	"sticky": func() string { return "position:sticky;left:0;background:#fff" },
	"head":   func() string { return "vertical-align:bottom;padding:4px 8px;font-weight:bold" },
}).Parse(tableText))

// bodyHTML is a part of the rows as a table of its own, for [tableHTML].
type bodyHTML struct {
	*written
	Caption string
	Rows    []rowHTML
	Width   int // columns
}

type rowHTML struct {
	Begins       bool
	Group, Label string
	Cells        []cellHTML
}

type cellHTML struct{ Text, Hover, Style string }

// HTML is the table for a page or a cell of a notebook. Rows with published numbers and none of ours are folded, unless
// all are such.
func (t *Table) HTML() (string, error) {
	w, err := t.written(inHTML)
	if err != nil {
		return "", err
	}
	shown, folded := t.split()
	page := struct {
		ID, Line string
		Shown    bodyHTML
		Folded   *bodyHTML
		Notes    []string
	}{ID: t.ID, Shown: t.bodyHTML(w, shown), Notes: w.Notes}
	page.Shown.Caption = w.Title
	const fits = 1080 // CSS pixels
	if sum(w.lay().widths) > fits {
		page.Shown.Caption += fmt.Sprintf(`<small style="font-weight:normal;color:%s">&#8195;%d columns: scroll `+
			`&#8594;</small>`, quiet, len(t.Columns))
	}
	if len(folded) > 0 {
		var names []string
		for _, i := range folded {
			names = append(names, w.Rows[i].Label)
		}
		body := t.bodyHTML(w, folded)
		page.Folded = &body
		page.Line = fmt.Sprintf("%d more without numbers of ours: %s", len(folded), strings.Join(names, ", "))
	}
	var b strings.Builder
	err = tableHTML.Execute(&b, page)
	return b.String(), err
}

func (t *Table) bodyHTML(w *written, rows []int) bodyHTML {
	body := bodyHTML{written: w, Width: len(t.Columns) + 1}
	for n, i := range rows {
		row := rowHTML{n == 0 || t.Rows[i].Group != t.Rows[rows[n-1]].Group, w.Rows[i].Group, w.Rows[i].Label, nil}
		for k, c := range t.Rows[i].Cells {
			cell := cellHTML{strings.Join(w.Rows[i].Cells[k], inHTML.newline),
				html.EscapeString(strings.Join(c.hover, "; ")), c.shadeHTML()}
			if cell.Hover != "" {
				cell.Style += ";cursor:help"
			}
			row.Cells = append(row.Cells, cell)
		}
		body.Rows = append(body.Rows, row)
	}
	return body
}

func (c Cell) shadeHTML() string {
	if !(c.shade > 0) {
		return ""
	}
	at := min(c.shade, 1) * float64(len(shades)-1)
	k := min(int(at), len(shades)-2)
	colour := mix(rgb(shades[k]), rgb(shades[k+1]), at-float64(k))
	text := ink
	if c.shade > 0.5 {
		text = "#ffffff"
	}
	return fmt.Sprintf(";background:#%02x%02x%02x;color:%s", colour.R, colour.G, colour.B, text)
}

// split returns the rows to show, and those to fold.
func (t *Table) split() (shown, bare []int) {
	for i, r := range t.Rows {
		ours, missing, published := false, false, false
		for _, c := range r.Cells {
			missing = missing || c.kind == kindMissing && !c.published
			published = published || c.published
			ours = ours || !c.published && c.kind != kindMissing && c.kind != kindEmpty
		}
		if missing && published && !ours {
			bare = append(bare, i)
		} else {
			shown = append(shown, i)
		}
	}
	if len(shown) == 0 {
		return bare, nil
	}
	return shown, bare
}
