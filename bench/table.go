package main

import (
	"fmt"
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
			fmt.Fprintf(&b, "\n%s, peer: %s; seconds per epoch in a trial: %s.\n",
				x.Case.Name, x.Graph.Layout, x.trials())
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

// tables are one of times, and one of memory, iterations and losses.
func (r *Report) tables() []*report.Table {
	if len(r.Results) == 0 {
		return nil
	}
	const corner, times = "model-graph-forward-reverse-width", "times revgnn's"
	time := &report.Table{ID: "times", Title: "Seconds per epoch, medians over the rounds", Corner: corner,
		Columns: []report.Column{{Name: "nodes"}, {Name: "entries"}, {Name: "revgnn", Unit: "s"},
			{Name: "peer", Unit: "s"}, {Name: "peer", Unit: times}, {Name: "authors", Unit: "s"},
			{Name: "authors", Unit: times}, {Name: "to compile", Unit: "s"}},
		Notes: []string{"Above 1 time, revgnn is faster."}}
	rest := &report.Table{ID: "rest", Corner: corner,
		Title: "Peak memory; iterations per reverse layer (solve / adjoint); " +
			"largest relative difference of losses after the same steps",
		Columns: []report.Column{{Group: "memory", Name: "revgnn", Unit: "MB"},
			{Group: "memory", Name: "peer", Unit: "MB"}, {Group: "memory", Name: "peer", Unit: times},
			{Group: "memory", Name: "authors", Unit: "MB"},
			{Group: "iterations", Name: "revgnn"}, {Group: "iterations", Name: "peer"},
			{Group: "losses", Name: "peer"}, {Group: "losses", Name: "authors"}}}
	for i, x := range r.Results {
		label := fmt.Sprintf("%d %s", i+1, x.Case.Name)
		time.Rows = append(time.Rows, report.Row{Label: label, Cells: []report.Cell{report.Count(x.Graph.Nodes),
			report.Count(x.Graph.entries()), x.cell(Ours, seconds), x.cell(Peer, seconds), x.cell(Peer, timeRatio),
			x.cell(Authors, seconds), x.cell(Authors, timeRatio), x.cell(Ours, compiling)}})
		rest.Rows = append(rest.Rows, report.Row{Label: label, Cells: []report.Cell{x.cell(Ours, megabytes),
			x.cell(Peer, megabytes), x.cell(Peer, memoryRatio), x.cell(Authors, megabytes), x.cell(Ours, iterations),
			x.cell(Peer, iterations), x.cell(Peer, agreement), x.cell(Authors, agreement)}})
	}
	return []*report.Table{time, rest}
}

func (x *Result) cell(which string, show func(*Summary) string) report.Cell {
	s := x.Programs[which]
	if s == nil || s.EpochSeconds == 0 {
		return report.Cell{}
	}
	text := show(s)
	if text == "" {
		return report.Cell{}
	}
	return report.Text(text)
}

func compiling(s *Summary) string { return fmt.Sprintf("%.1f", s.CompileSeconds) }
func seconds(s *Summary) string   { return fmt.Sprintf("%.3g", s.EpochSeconds) }
func timeRatio(s *Summary) string { return ratio(s.TimeRatio) }
func memoryRatio(s *Summary) string {
	return ratio(s.MemoryRatio)
}
func megabytes(s *Summary) string { return fmt.Sprintf("%.0f", float64(s.PeakBytes)/1e6) }

func ratio(r float64) string {
	if r == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", r)
}

func iterations(s *Summary) string {
	if s.Iterations == nil {
		return ""
	}
	return fmt.Sprintf("%.2f / %.2f", s.Iterations.Solve, s.Iterations.Adjoint)
}

func agreement(s *Summary) string {
	if s.TimeRatio == 0 {
		return ""
	}
	return fmt.Sprintf("%.0e in %d steps", s.LossDifference, s.Steps)
}

// figure draws the ratios to revgnn by the cases' numbers in the tables.
func (r *Report) figure() *report.Figure {
	series := []report.Series{{Name: "seconds: peer / revgnn"}, {Name: "memory: peer / revgnn"},
		{Name: "seconds: authors / revgnn"}}
	add := func(k, i int, value float64) {
		if value > 0 {
			series[k].X, series[k].Y = append(series[k].X, float64(i+1)), append(series[k].Y, value)
		}
	}
	for i, x := range r.Results {
		if s := x.Programs[Peer]; s != nil {
			add(0, i, s.TimeRatio)
			add(1, i, s.MemoryRatio)
		}
		if s := x.Programs[Authors]; s != nil {
			add(2, i, s.TimeRatio)
		}
	}
	var drawn []report.Series
	for _, s := range series {
		if len(s.X) > 0 {
			drawn = append(drawn, s)
		}
	}
	if len(drawn) == 0 {
		return nil
	}
	return report.Curves("bench", "How many times the others need (above 1: revgnn is better)",
		"case (number in the table)", "ratio", drawn, report.Axes{LogY: true})
}
