package report

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

// CSV is the data: a row for each point of a curve, cell of a map, or line of [Parallel].
func (f *Figure) CSV() (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(f.chart.numbers()); err != nil {
		return "", fmt.Errorf("report: figure %q: %w", f.ID, err)
	}
	return b.String(), nil
}

// LaTeX is a float that shows the PNG picture, which must be beside the document in a file named after the ID
// (loss.png); it needs \usepackage{graphicx}.
func (f *Figure) LaTeX() (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
	return fmt.Sprintf("%% Needs \\usepackage{graphicx}, and %[1]s.png beside the document.\n\\begin{figure}[t]\n"+
		"\\centering\n\\includegraphics[width=\\linewidth]{%[1]s}\n\\caption{%[2]s}\n\\label{fig:%[1]s}\n\\end{figure}\n",
		f.ID, inLaTeX.plain(f.Title)), nil
}

func (c *curves) numbers() [][]string {
	lines := [][]string{{"panel", "curve", "x", "y", "spread", "x_name", "y_name"}}
	for _, p := range c.plots {
		for _, s := range p.Series {
			for i := range s.X {
				spread := ""
				if len(s.Spread) > 0 {
					spread = exact(s.Spread[i])
				}
				lines = append(lines, []string{p.Title, s.Name, exact(s.X[i]), exact(s.Y[i]), spread, p.XName, p.YName})
			}
		}
	}
	return lines
}

func (b *board) numbers() [][]string {
	lines := [][]string{{"strip", "map", "row", "column", "value", "marked", "value_name"}}
	for _, s := range b.strips {
		for _, p := range s.Panels {
			marked := make([]bool, len(p.Values))
			for _, m := range p.Marks {
				marked[m] = true
			}
			for i, v := range p.Values {
				lines = append(lines, []string{s.Title, p.Title, strconv.Itoa(i / b.cols), strconv.Itoa(i % b.cols), exact(v),
					strconv.FormatBool(marked[i]), b.valueName})
			}
		}
	}
	return lines
}

// numbers has the cells of all frames; the column strip names the frame.
func (s *slider) numbers() [][]string {
	all := *s.live
	all.strips = nil
	for _, f := range s.frames {
		all.strips = append(all.strips, Strip{Title: f.Name, Panels: f.Panels})
	}
	return all.numbers()
}

func (p *parallel) numbers() [][]string {
	head := []string{"line", "good", "marked"}
	for _, a := range p.axes {
		head = append(head, a.Name)
	}
	lines := [][]string{head}
	for _, l := range p.lines {
		line := []string{l.Name, exact(l.Value), strconv.FormatBool(l.Marked)}
		for i, v := range l.Values {
			text := exact(v)
			if names := p.axes[i].Categories; len(names) > 0 && v == v {
				text = names[int(v)]
			}
			line = append(line, text)
		}
		lines = append(lines, line)
	}
	return lines
}
