package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/train"
)

// Report is the content of bench.json.
type Report struct {
	Machine  Machine           `json:"machine"`
	Rounds   int               `json:"rounds"`
	Started  string            `json:"started"`
	Finished string            `json:"finished"`
	Missing  map[string]string `json:"missing,omitempty"`
	Results  []*Result         `json:"results"`
}

// Result has the runs of a case, and what was computed from them.
type Result struct {
	Case    Case              `json:"case"`
	Graph   Prepared          `json:"graph"`
	Runs    []Run             `json:"runs"`
	Skipped map[string]string `json:"skipped,omitempty"`
	// Layouts are seconds per epoch of trials.
	Layouts  map[string]float64  `json:"layouts,omitempty"`
	Programs map[string]*Summary `json:"programs"`
}

// Summary has medians over the rounds, and ratios to revgnn's.
type Summary struct {
	EpochSeconds   float64           `json:"epoch_seconds"`
	CompileSeconds float64           `json:"compile_seconds,omitempty"`
	PeakBytes      int64             `json:"peak_bytes"`
	Iterations     *train.Iterations `json:"iterations,omitempty"`
	// Above 1, revgnn is better; 0 if there is nothing to compare.
	TimeRatio   float64 `json:"time_ratio,omitempty"`
	MemoryRatio float64 `json:"memory_ratio,omitempty"`
	// LossDifference is the largest relative difference of losses in the Steps that both made.
	LossDifference float64 `json:"loss_difference,omitempty"`
	Steps          int     `json:"steps"`
	Rounds         int     `json:"rounds"`
	Error          string  `json:"error,omitempty"`
}

// summarise computes the programs' summaries from the runs.
func (r *Result) summarise() {
	r.Programs = map[string]*Summary{}
	ours := r.of(Ours)
	for _, which := range []string{Ours, Peer, Authors} {
		runs := r.of(which)
		s := &Summary{Rounds: len(runs)}
		for _, bad := range r.Runs {
			if bad.Program == which && bad.Error != "" {
				s.Error = bad.Error
			}
		}
		if len(runs) > 0 || s.Error != "" {
			r.Programs[which] = s
		}
		if len(runs) == 0 {
			continue
		}
		s.EpochSeconds = over(runs, func(x Run) float64 { return x.EpochSeconds })
		s.CompileSeconds = over(runs, func(x Run) float64 { return x.CompileSeconds })
		s.PeakBytes = int64(over(runs, func(x Run) float64 { return float64(x.PeakBytes) }))
		s.Iterations, s.Steps = runs[0].Iterations, len(runs[0].Losses)
		if which == Ours || len(ours) == 0 {
			continue
		}
		var time, memory []float64 // ratios of runs in the same round
		for _, x := range runs {
			for _, o := range ours {
				if o.Round == x.Round {
					time = append(time, x.EpochSeconds/o.EpochSeconds)
					memory = append(memory, float64(x.PeakBytes)/float64(o.PeakBytes))
				}
			}
		}
		if len(time) > 0 {
			s.TimeRatio, s.MemoryRatio = metrics.Median(time), metrics.Median(memory)
		}
		s.Steps = min(len(ours[0].Losses), s.Steps)
		for i, b := range runs[0].Losses[:s.Steps] {
			a := ours[0].Losses[i]
			s.LossDifference = max(s.LossDifference,
				math.Abs(a-b)/max(math.Abs(a), math.Abs(b), math.SmallestNonzeroFloat64))
		}
	}
}

// of is a program's runs that went well.
func (r *Result) of(which string) (runs []Run) {
	for _, x := range r.Runs {
		if x.Program == which && x.Error == "" {
			runs = append(runs, x)
		}
	}
	return runs
}

func over(runs []Run, value func(Run) float64) float64 {
	values := make([]float64, len(runs))
	for i, x := range runs {
		values[i] = value(x)
	}
	return metrics.Median(values)
}

// write writes the report's files.
func (r *Report) write(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	tables, err := r.markdown()
	if err != nil {
		return err
	}
	contents := map[string]string{"bench.json": string(text) + "\n", "bench.md": tables}
	if f := r.figure(); f != nil {
		svg, err := f.SVG()
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: no figure: %v\n", err)
		} else {
			contents["bench.svg"] = svg
		}
	}
	for name, content := range contents {
		if err := files.WriteText(filepath.Join(dir, name), content); err != nil {
			return err
		}
	}
	return nil
}

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
