package report

import (
	"fmt"
	"html"
	"strings"
)

var inHTML = markup{
	plain: html.EscapeString,
	bold:  wrap("<b>", "</b>"), underlined: wrap("<u>", "</u>"), italic: wrap(`<i style="color:`+quiet+`">`, "</i>"),
	small:  wrap("<small>", "</small>"),
	raised: wrap(`<sup style="line-height:0">`, "</sup>"), lowered: wrap(`<sub style="line-height:0">`, "</sub>"),
	symbol:  wrap("<var>", "</var>"),
	newline: "<br/>", longest: 44,
}

// rowHTML begins a row, white since notebooks colour every second one.
const rowHTML = `<tr style="background:#fff;%s">`

// sticky keeps the first column in sight while others scroll.
const sticky = "position:sticky;left:0;background:#fff"

// shownWidth in CSS pixels is what fits; a wider table hints at further columns.
const shownWidth = 1080

// HTML is the table for a page or a cell of a notebook, which removes style sheets: styles are in the elements. Rows
// with published numbers and none of ours are folded, unless all are such.
func (t *Table) HTML() (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	ranks := t.ranks()
	marks, reasons := t.marks()
	var b strings.Builder
	fmt.Fprintf(&b, `<div id="%s" class="revgnn-table" style="overflow-x:auto;background:#fff;color:%s;font-family:%s">`+
		"\n", t.ID, ink, fontFamily)
	hint := ""
	if t.Width() > shownWidth {
		hint = fmt.Sprintf(`<small style="font-weight:normal;color:%s">&#8195;%d columns: scroll `+
			`&#8594;</small>`, quiet, len(t.Columns))
	}
	shown, bare := t.split()
	cell := func(row, column int) string {
		return inHTML.cell(t.Rows[row].Cells[column], ranks[row][column], marks)
	}
	t.bodyHTML(&b, shown, html.EscapeString(t.Title)+hint, cell)
	if len(bare) > 0 {
		var names []string
		for _, i := range bare {
			names = append(names, t.Rows[i].Label)
		}
		line := fmt.Sprintf("%d more without numbers of ours: %s", len(bare), strings.Join(names, ", "))
		fmt.Fprintf(&b, `<details style="margin:8px"><summary style="cursor:pointer;font-size:13px">%s</summary>`+"\n",
			html.EscapeString(line))
		t.bodyHTML(&b, bare, "", cell)
		b.WriteString("</details>\n")
	}
	for _, n := range t.notes(inHTML, ranks, marks, reasons) {
		fmt.Fprintf(&b, `<p style="margin:4px 8px;font-size:12px;max-width:60em">%s</p>`+"\n", n)
	}
	b.WriteString("</div>\n")
	return b.String(), nil
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

func (t *Table) bodyHTML(b *strings.Builder, rows []int, caption string, cell func(row, column int) string) {
	fmt.Fprintf(b, `<table style="border-collapse:collapse;border-bottom:2px solid %s;font-size:13px;`+
		`font-variant-numeric:tabular-nums">`+"\n", ink)
	if caption != "" {
		fmt.Fprintf(b, `<caption style="text-align:left;padding:8px;font-size:15px;font-weight:bold;color:%s">`+
			`<span style="position:sticky;left:8px">%s</span></caption>`+"\n", ink, caption)
	}
	b.WriteString(t.headHTML())
	b.WriteString("<tbody>\n")
	for n, i := range rows {
		r, rule := t.Rows[i], ""
		if n == 0 || r.Group != t.Rows[rows[n-1]].Group {
			rule = "border-top:1px solid " + ink
			if r.Group != "" {
				fmt.Fprintf(b, rowHTML+`<th colspan="%d" scope="rowgroup" `+
					`style="text-align:left;padding:6px 8px 2px;font-weight:normal">`+
					"<i>%s</i></th></tr>\n", rule, len(t.Columns)+1, html.EscapeString(r.Group))
				rule = ""
			}
		}
		fmt.Fprintf(b, rowHTML+
			`<th scope="row" style="%s;text-align:left;vertical-align:top;padding:3px 8px;font-weight:normal">%s</th>`,
			rule, sticky, html.EscapeString(r.Label))
		for k, c := range r.Cells {
			title, style := "", c.shadeHTML()
			if len(c.hover) > 0 {
				title = fmt.Sprintf(` title="%s"`, html.EscapeString(strings.Join(c.hover, "; ")))
				style += ";cursor:help"
			}
			fmt.Fprintf(b, `<td%s style="text-align:%s;vertical-align:top;padding:3px 8px;white-space:nowrap%s">%s</td>`,
				title, t.align(k), style, cell(i, k))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
}

func (t *Table) headHTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<thead style="border-top:2px solid %s">`+"\n", ink)
	cell := func(attributes, style, text string) {
		fmt.Fprintf(&b, `<th%s style="text-align:%s;vertical-align:bottom;padding:4px 8px;font-weight:bold">%s</th>`,
			attributes, style, text)
	}
	if t.grouped() {
		fmt.Fprintf(&b, rowHTML, "")
		cell("", "left;"+sticky, "")
		for _, s := range t.spans() {
			cell(fmt.Sprintf(` colspan="%d" scope="colgroup"`, s.size), "center", html.EscapeString(s.group))
		}
		b.WriteString("</tr>\n")
	}
	fmt.Fprintf(&b, rowHTML, "")
	cell(` scope="col"`, "left;"+sticky, html.EscapeString(t.Corner))
	for k, c := range t.Columns {
		name := html.EscapeString(c.Name)
		if c.Unit != "" {
			name += `<br/><small style="font-weight:normal;white-space:nowrap">` + html.EscapeString(c.Unit) + "</small>"
		}
		cell(` scope="col"`, t.align(k), name)
	}
	b.WriteString("</tr>\n</thead>\n")
	return b.String()
}
