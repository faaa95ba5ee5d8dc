package report

import (
	"fmt"
	"slices"
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
	w, err := t.written(inLaTeX)
	if err != nil {
		return "", err
	}
	float, size, columns := "table", "", "l"
	if len(t.Columns) > 5 {
		// In documents with two columns of text, the environment table* is as wide as the page.
		float, size = "table*", "\\small\\setlength{\\tabcolsep}{3.5pt}\n"
	}
	names, units, any := w.Corner, "", false
	for _, c := range w.Columns {
		columns += c.Align[:1]
		names, units = names+" & "+c.Name, units+" & "
		if c.Unit != "" {
			units, any = units+inLaTeX.small(c.Unit), true
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%% Needs \\usepackage{booktabs}.\n\\begin{%s}[t]\n\\centering\n", float)
	fmt.Fprintf(&b, "\\caption{%s}\n\\label{tab:%s}\n%s", w.Title, t.ID, size)
	fmt.Fprintf(&b, "\\begin{tabular}{%s}\n\\toprule\n", columns)
	if w.Spans != nil {
		rules := ""
		for _, s := range w.Spans {
			fmt.Fprintf(&b, " & \\multicolumn{%d}{c}{%s}", s.Size, s.Group)
			if s.Group != "" {
				rules += fmt.Sprintf("\\cmidrule(lr){%d-%d}", s.First+2, s.First+s.Size+1)
			}
		}
		b.WriteString(" \\\\\n" + rules + "\n")
	}
	b.WriteString(names + " \\\\\n")
	if any {
		b.WriteString(units + " \\\\\n")
	}
	for _, r := range w.Rows {
		if r.Begins {
			b.WriteString("\\midrule\n")
			if r.Group != "" {
				fmt.Fprintf(&b, "\\multicolumn{%d}{l}{\\textit{%s}} \\\\\n", len(t.Columns)+1, r.Group)
			}
		}
		deepest := slices.MaxFunc(r.Cells, func(a, b writtenCell) int { return len(a.Lines) - len(b.Lines) }).Lines
		for i := range deepest {
			line := []string{""}
			if i == 0 {
				line[0] = r.Label
			}
			for _, c := range r.Cells {
				line = append(line, append(c.Lines, make([]string, len(deepest))...)[i])
			}
			b.WriteString(strings.Join(line, " & ") + " \\\\\n")
		}
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	if len(w.Notes) > 0 {
		b.WriteString("\\par\\smallskip\n{\\footnotesize\\raggedright\n" +
			strings.Join(w.Notes, " \\par\n") + " \\par}\n")
	}
	fmt.Fprintf(&b, "\\end{%s}\n", float)
	if err := latin(t.ID, b.String()); err != nil {
		return "", err
	}
	return b.String(), nil
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
