package report

import (
	"fmt"
	"strings"
)

// signs escapes LaTeX's characters, and writes others that its fonts lack in its own notation.
var signs = strings.NewReplacer(
	`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "#", `\#`, "%", `\%`, "_", `\_`,
	"^", `\textasciicircum{}`,
	"~", `\textasciitilde{}`, "<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, "\n", " ",
	"[", "{[}", "]", "{]}",
	"−", `$-$`, "±", `$\pm$`, "×", `$\times$`, "·", `$\cdot$`, "≤", `$\leq$`, "≥", `$\geq$`, "≈", `$\approx$`,
	"∞", `$\infty$`, "↑", `$\uparrow$`, "↓", `$\downarrow$`, "→", `$\to$`,
	"Δ", `$\Delta$`, "λ", `$\lambda$`, "τ", `$\tau$`, "α", `$\alpha$`, "σ", `$\sigma$`,
	"‖", `$\Vert$`, "–", "--", "—", "---", "…", `\ldots{}`, "“", "``", "”", "''", "‘", "`", "’", "'",
	"†", `$\dagger$`, "‡", `$\ddagger$`,
	"₀", `$_0$`, "₁", `$_1$`, "₂", `$_2$`, "₃", `$_3$`, "²", `$^2$`, "³", `$^3$`, "°", `$^\circ$`,
	"Â", `$\hat{A}$`, "𝓛", `$\mathcal{L}$`,
)

var inLaTeX = markup{
	plain: signs.Replace,
	bold:  wrap(`\textbf{`, "}"), underlined: wrap(`\underline{`, "}"), italic: wrap(`\textit{`, "}"),
	small: wrap(`{\scriptsize{}`, "}"), raised: wrap(`\textsuperscript{`, "}"), lowered: wrap(`\textsubscript{`, "}"),
	symbol: wrap("$", "$"),
}

// LaTeX is a float; it needs \usepackage{booktabs}. Lines in small print are rows.
func (t *Table) LaTeX() (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	ranks := t.ranks()
	marks, reasons := t.marks()
	float, size, columns := "table", "", "l"
	if len(t.Columns) > 5 {
		// In documents with two columns of text, the environment table* is as wide as the page.
		float, size = "table*", "\\small\\setlength{\\tabcolsep}{3.5pt}\n"
	}
	for k := range t.Columns {
		columns += t.align(k)[:1]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%% Needs \\usepackage{booktabs}.\n\\begin{%s}[t]\n\\centering\n", float)
	fmt.Fprintf(&b, "\\caption{%s}\n\\label{tab:%s}\n%s", inLaTeX.plain(t.Title), t.ID, size)
	fmt.Fprintf(&b, "\\begin{tabular}{%s}\n\\toprule\n%s", columns, t.headLaTeX())
	for i, r := range t.Rows {
		if i == 0 || r.Group != t.Rows[i-1].Group {
			b.WriteString("\\midrule\n")
			if r.Group != "" {
				fmt.Fprintf(&b, "\\multicolumn{%d}{l}{\\textit{%s}} \\\\\n", len(t.Columns)+1, inLaTeX.plain(r.Group))
			}
		}
		for _, line := range r.linesLaTeX(ranks[i], marks) {
			b.WriteString(strings.Join(line, " & ") + " \\\\\n")
		}
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	if notes := t.notes(inLaTeX, ranks, marks, reasons); len(notes) > 0 {
		b.WriteString("\\par\\smallskip\n{\\footnotesize\\raggedright\n" +
			strings.Join(notes, " \\par\n") + " \\par}\n")
	}
	fmt.Fprintf(&b, "\\end{%s}\n", float)
	if err := latin(t.ID, b.String()); err != nil {
		return "", err
	}
	return b.String(), nil
}

func (t *Table) headLaTeX() string {
	var b strings.Builder
	if t.grouped() {
		rules := ""
		for _, s := range t.spans() {
			fmt.Fprintf(&b, " & \\multicolumn{%d}{c}{%s}", s.size, inLaTeX.plain(s.group))
			if s.group != "" {
				rules += fmt.Sprintf("\\cmidrule(lr){%d-%d}", s.first+2, s.first+s.size+1)
			}
		}
		b.WriteString(" \\\\\n" + rules + "\n")
	}
	names, units, any := inLaTeX.plain(t.Corner), "", false
	for _, c := range t.Columns {
		names += " & " + inLaTeX.plain(c.Name)
		units += " & "
		if c.Unit != "" {
			units, any = units+inLaTeX.small(inLaTeX.plain(c.Unit)), true
		}
	}
	b.WriteString(names + " \\\\\n")
	if any {
		b.WriteString(units + " \\\\\n")
	}
	return b.String()
}

func (r Row) linesLaTeX(ranks []rank, marks map[string]string) [][]string {
	lines := [][]string{{inLaTeX.plain(r.Label)}}
	for k, c := range r.Cells {
		lines[0] = append(lines[0], inLaTeX.line(c, ranks[k], marks))
		for i, below := range c.below {
			if i+1 == len(lines) {
				lines = append(lines, make([]string, len(r.Cells)+1))
			}
			lines[i+1][k+1] = inLaTeX.fine(below, marks)
		}
	}
	return lines
}

// latin returns an error at the first character beyond Latin-1, at which LaTeX would stop.
func latin(id, text string) error {
	for _, c := range text {
		if c > 0xff {
			return fmt.Errorf(
				"report: table %q: LaTeX would stop at the sign %q: "+
					"write it in another way, or add it to signs in table_latex.go", id, c)
		}
	}
	return nil
}
