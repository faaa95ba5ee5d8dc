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
	w, err := t.written(inMarkdown)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	row := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	b.WriteString("**" + w.Title + "**\n\n")
	head, rule := []string{w.Corner}, []string{":--"}
	for _, c := range w.Columns {
		name := c.Name
		if c.Group != "" {
			name = c.Group + ": " + name
		}
		if c.Unit != "" {
			name += "<br>" + inMarkdown.small(c.Unit)
		}
		head = append(head, name)
		rule = append(rule, map[string]string{"left": ":--", "right": "--:", "center": ":-:"}[c.Align])
	}
	row(head)
	row(rule)
	for _, r := range w.Rows {
		if r.Begins && r.Group != "" {
			row(append([]string{"*" + r.Group + "*"}, make([]string, len(t.Columns))...))
		}
		cells := []string{r.Label}
		for _, c := range r.Cells {
			cells = append(cells, strings.Join(c.Lines, inMarkdown.newline))
		}
		row(cells)
	}
	for _, n := range w.Notes {
		b.WriteString("\n" + n + "\n")
	}
	return b.String(), nil
}
