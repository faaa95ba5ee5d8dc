package report

import "strings"

var unmarked = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", ">", "&gt;",
	"&", "&amp;", "[", `\[`, "]", `\]`, "~", `\~`, "$", `\$`, "\n", " ")

var inMarkdown = markup{
	plain: unmarked.Replace,
	bold:  wrap("**", "**"), underlined: wrap("<u>", "</u>"), italic: wrap("<i>", "</i>"),
	small: wrap("<small>", "</small>"), raised: wrap("<sup>", "</sup>"), lowered: wrap("<sub>", "</sub>"),
	symbol:  wrap("", ""),
	newline: "<br>",
}

// Markdown is that of GitHub and Jupyter.
func (t *Table) Markdown() (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	ranks := t.ranks()
	marks, reasons := t.marks()
	var b strings.Builder
	row := func(cells ...string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

	b.WriteString("**" + unmarked.Replace(t.Title) + "**\n\n")
	head, rule := []string{unmarked.Replace(t.Corner)}, []string{":--"}
	for k, c := range t.Columns {
		name := c.Name
		if c.Group != "" {
			name = c.Group + ": " + name
		}
		name = unmarked.Replace(name)
		if c.Unit != "" {
			name += "<br>" + inMarkdown.small(unmarked.Replace(c.Unit))
		}
		head = append(head, name)
		rule = append(rule, map[string]string{"left": ":--", "right": "--:", "center": ":-:"}[t.align(k)])
	}
	row(head...)
	row(rule...)
	for i, r := range t.Rows {
		if r.Group != "" && (i == 0 || r.Group != t.Rows[i-1].Group) {
			row(append([]string{"*" + unmarked.Replace(r.Group) + "*"}, make([]string, len(t.Columns))...)...)
		}
		cells := []string{unmarked.Replace(r.Label)}
		for k, c := range r.Cells {
			cells = append(cells, inMarkdown.cell(c, ranks[i][k], marks))
		}
		row(cells...)
	}
	for _, n := range t.notes(inMarkdown, ranks, marks, reasons) {
		b.WriteString("\n" + n + "\n")
	}
	return b.String(), nil
}
