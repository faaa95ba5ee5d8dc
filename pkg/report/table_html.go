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
	newline: "<br/>",
}

// rowHTML begins a row; notebooks stripe rows, which groups and rules do here.
const rowHTML = `<tr style="background:#fff;%s">`

// HTML is the table for a web page or a notebook's output. Its styles are in the elements themselves, since notebooks
// drop style sheets.
func (t *Table) HTML() (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	ranks := t.ranks()
	marks, reasons := t.marks()
	var b strings.Builder
	fmt.Fprintf(&b, `<div id="%s" class="revgnn-table" style="overflow-x:auto;background:#fff;color:%s;font-family:%s">
<table style="border-collapse:collapse;border-bottom:2px solid %[2]s;font-size:13px;font-variant-numeric:tabular-nums">
<caption style="text-align:left;padding:8px;font-size:15px;font-weight:bold;color:%[2]s">%[4]s</caption>
`, t.ID, ink, fontFamily, html.EscapeString(t.Title))
	b.WriteString(t.headHTML())
	b.WriteString("<tbody>\n")
	for i, r := range t.Rows {
		rule := ""
		if i == 0 || r.Group != t.Rows[i-1].Group {
			rule = "border-top:1px solid " + ink
			if r.Group != "" {
				fmt.Fprintf(&b, rowHTML+`<th colspan="%d" scope="rowgroup" `+
					`style="text-align:left;padding:6px 8px 2px;font-weight:normal">`+
					"<i>%s</i></th></tr>\n", rule, len(t.Columns)+1, html.EscapeString(r.Group))
				rule = ""
			}
		}
		fmt.Fprintf(&b, rowHTML+
			`<th scope="row" style="text-align:left;vertical-align:top;padding:3px 8px;font-weight:normal">%s</th>`,
			rule, html.EscapeString(r.Label))
		for k, c := range r.Cells {
			fmt.Fprintf(&b, `<td style="text-align:%s;vertical-align:top;padding:3px 8px;white-space:nowrap%s">%s</td>`,
				t.align(k), c.shadeHTML(), inHTML.cell(c, ranks[i][k], marks))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
	for _, n := range t.notes(inHTML, ranks, marks, reasons) {
		fmt.Fprintf(&b, `<p style="margin:4px 8px;font-size:12px;max-width:60em">%s</p>`+"\n", n)
	}
	b.WriteString("</div>\n")
	return b.String(), nil
}

// shadeHTML is the style of a shaded cell, with text that can be read on it.
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

func (t *Table) headHTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<thead style="border-top:2px solid %s">`+"\n", ink)
	cell := func(attributes, align, text string) {
		fmt.Fprintf(&b, `<th%s style="text-align:%s;vertical-align:bottom;padding:4px 8px;font-weight:bold">%s</th>`,
			attributes, align, text)
	}
	if t.grouped() {
		fmt.Fprintf(&b, rowHTML, "")
		cell("", "left", "")
		for _, s := range t.spans() {
			cell(fmt.Sprintf(` colspan="%d" scope="colgroup"`, s.size), "center", html.EscapeString(s.group))
		}
		b.WriteString("</tr>\n")
	}
	fmt.Fprintf(&b, rowHTML, "")
	cell(` scope="col"`, "left", html.EscapeString(t.Corner))
	for k, c := range t.Columns {
		name := html.EscapeString(c.Name)
		if c.Unit != "" {
			name += `<br/><small style="font-weight:normal">` + html.EscapeString(c.Unit) + "</small>"
		}
		cell(` scope="col"`, t.align(k), name)
	}
	b.WriteString("</tr>\n</thead>\n")
	return b.String()
}
