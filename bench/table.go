package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/report"
)

func (r *Report) markdown() (string, error) {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "# Side by side\n\n%s, %d cores, %.0f GB; engine %s; commit %s; %s to %s; %d rounds; "+
		"load at the start %s.\n",
		m.CPU, m.Cores, gb(m.Memory), m.Engine, m.Commit, r.Started, r.Finished, r.Rounds, m.Load)
	for _, which := range []string{Peer, Authors} {
		if why := r.Missing[which]; why != "" {
			fmt.Fprintf(&b, "\nWithout the %s: %s.\n", which, why)
		}
	}
	for _, t := range r.tables() {
		text, err := t.Markdown()
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + text)
	}
	for _, x := range r.Results {
		if len(x.Layouts) > 0 {
			var trials []string
			for _, layout := range slices.Sorted(maps.Keys(x.Layouts)) {
				trials = append(trials, fmt.Sprintf("%s %.3g", layout, x.Layouts[layout]))
			}
			fmt.Fprintf(&b, "\n%s, peer: %s; seconds per epoch in a trial: %s.\n",
				x.Case.Name, x.Graph.Layout, strings.Join(trials, ", "))
		}
		for _, which := range []string{Ours, Peer, Authors} {
			if why := x.Skipped[which]; why != "" {
				fmt.Fprintf(&b, "\n%s, %s: skipped, %s.\n", x.Case.Name, which, why)
			}
			if s := x.Programs[which]; s != nil && s.Error != "" {
				fmt.Fprintf(&b, "\n%s, %s: failed, %s\n", x.Case.Name, which, s.Error)
			}
		}
	}
	return b.String(), nil
}

// column is a number of a program's summary, in the form that show gives it; "" if there is nothing to show.
type column struct {
	report.Column
	which string
	show  func(*Summary) string
}

// tables are one of times, and one of memory, iterations and losses.
func (r *Report) tables() []*report.Table {
	if len(r.Results) == 0 {
		return nil
	}
	ratio := func(r float64) string {
		if r == 0 {
			return ""
		}
		return fmt.Sprintf("%.2f", r)
	}
	seconds := func(s *Summary) string { return fmt.Sprintf("%.3g", s.EpochSeconds) }
	timeRatio := func(s *Summary) string { return ratio(s.TimeRatio) }
	megabytes := func(s *Summary) string { return fmt.Sprintf("%.0f", float64(s.PeakBytes)/1e6) }
	iterations := func(s *Summary) string {
		if s.Iterations == nil {
			return ""
		}
		return fmt.Sprintf("%.2f / %.2f", s.Iterations.Solve, s.Iterations.Adjoint)
	}
	agreement := func(s *Summary) string {
		if s.TimeRatio == 0 {
			return ""
		}
		return fmt.Sprintf("%.0e in %d steps", s.LossDifference, s.Steps)
	}
	named := func(group, name, unit string) report.Column {
		return report.Column{Group: group, Name: name, Unit: unit}
	}
	const times = "times revgnn's"
	return []*report.Table{
		r.table("times", "Seconds per epoch, medians over the rounds; above 1 time, revgnn is faster", []column{
			{named("", "revgnn", "s"), Ours, seconds}, {named("", "peer", "s"), Peer, seconds},
			{named("", "peer", times), Peer, timeRatio}, {named("", "authors", "s"), Authors, seconds},
			{named("", "authors", times), Authors, timeRatio},
			{named("", "to compile", "s"), Ours, func(s *Summary) string { return fmt.Sprintf("%.1f", s.CompileSeconds) }}}),
		r.table("rest", "Peak memory; iterations per reverse layer (solve / adjoint); largest relative difference of "+
			"losses after the same steps", []column{
			{named("memory", "revgnn", "MB"), Ours, megabytes}, {named("memory", "peer", "MB"), Peer, megabytes},
			{named("memory", "peer", times), Peer, func(s *Summary) string { return ratio(s.MemoryRatio) }},
			{named("memory", "authors", "MB"), Authors, megabytes}, {named("iterations", "revgnn", ""), Ours, iterations},
			{named("iterations", "peer", ""), Peer, iterations}, {named("losses", "peer", ""), Peer, agreement},
			{named("losses", "authors", ""), Authors, agreement}}),
	}
}

func (r *Report) table(id, title string, columns []column) *report.Table {
	t := &report.Table{ID: id, Title: title, Corner: "model-graph-forward-reverse-width",
		Columns: []report.Column{{Name: "nodes"}, {Name: "entries"}}}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for i, x := range r.Results {
		row := report.Row{Label: fmt.Sprintf("%d %s", i+1, x.Case.Name),
			Cells: []report.Cell{report.Count(x.Graph.Nodes), report.Count(x.Graph.entries())}}
		for _, c := range columns {
			cell := report.Cell{}
			if s := x.Programs[c.which]; s != nil && s.EpochSeconds > 0 && c.show(s) != "" {
				cell = report.Text(c.show(s))
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// figure draws the ratios to revgnn by the cases' numbers in the tables.
func (r *Report) figure() *report.Figure {
	var drawn []report.Series
	for _, of := range []struct {
		name, which string
		ratio       func(*Summary) float64
	}{
		{"seconds: peer / revgnn", Peer, func(s *Summary) float64 { return s.TimeRatio }},
		{"memory: peer / revgnn", Peer, func(s *Summary) float64 { return s.MemoryRatio }},
		{"seconds: authors / revgnn", Authors, func(s *Summary) float64 { return s.TimeRatio }},
	} {
		series := report.Series{Name: of.name}
		for i, x := range r.Results {
			if s := x.Programs[of.which]; s != nil && of.ratio(s) > 0 {
				series.X, series.Y = append(series.X, float64(i+1)), append(series.Y, of.ratio(s))
			}
		}
		if len(series.X) > 0 {
			drawn = append(drawn, series)
		}
	}
	if len(drawn) == 0 {
		return nil
	}
	return report.Curves("bench", "How many times the others need (above 1: revgnn is better)",
		"case (number in the table)", "ratio", drawn, report.Axes{LogY: true})
}
