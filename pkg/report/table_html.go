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
	"lines":  func(c writtenCell) string { return strings.Join(c.Lines, inHTML.newline) },
	"width":  func(columns []writtenColumn) int { return len(columns) + 1 },
	"head":   func() string { return "vertical-align:bottom;padding:4px 8px;font-weight:bold" },
}).Parse(tableText))

// HTML is the table for a page or a cell of a notebook. Rows with published numbers and none of ours are folded, unless
// all are such.
func (t *Table) HTML() (string, error) {
	w, err := t.written(inHTML)
	if err != nil {
		return "", err
	}
	shown, folded := t.split()
	part := func(title string, rows []int) *written { // some of the rows, as a table of its own
		p := &written{Title: title, Corner: w.Corner, Spans: w.Spans, Columns: w.Columns}
		for n, i := range rows {
			row := w.Rows[i]
			row.Begins = n == 0 || row.Group != p.Rows[n-1].Group
			p.Rows = append(p.Rows, row)
		}
		return p
	}
	page := struct {
		ID, Line      string
		Shown, Folded *written
		Notes         []string
	}{ID: t.ID, Notes: w.Notes}
	title := w.Title
	const fits = 1080 // CSS pixels
	if sum(w.lay().widths) > fits {
		title += fmt.Sprintf(`<small style="font-weight:normal;color:%s">&#8195;%d columns: scroll &#8594;</small>`, quiet,
			len(t.Columns))
	}
	page.Shown = part(title, shown)
	if len(folded) > 0 {
		page.Folded = part("", folded)
		var names []string
		for _, row := range page.Folded.Rows {
			names = append(names, row.Label)
		}
		page.Line = fmt.Sprintf("%d more without numbers of ours: %s", len(folded), strings.Join(names, ", "))
	}
	var b strings.Builder
	err = tableHTML.Execute(&b, page)
	return b.String(), err
}

func (c Cell) shadeHTML() string {
	if !(c.shade > 0) {
		return ""
	}
	colour := shadeAt(min(c.shade, 1))
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
