package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// Report is the JSON document: what was run where, and what came out.
type Report struct {
	Machine  Machine `json:"machine"`
	Rounds   int     `json:"rounds"`
	Started  string  `json:"started"`
	Finished string  `json:"finished"`
	// Missing programs, with the reason.
	Missing map[string]string `json:"missing,omitempty"`
	Results []*Result         `json:"results"`
	Limits  []Limit           `json:"roofline,omitempty"`
}

// Result is what is known of a case.
type Result struct {
	Case  Case     `json:"case"`
	Graph Prepared `json:"graph"`
	Runs  []Run    `json:"runs"`
	// Skipped programs, with the reason.
	Skipped map[string]string `json:"skipped,omitempty"`
	// Layouts are PyTorch Geometric's seconds per epoch in a trial of each layout of the graph.
	Layouts map[string]float64 `json:"layouts,omitempty"`
	// By program: medians over the rounds, and how it compares with revgnn.
	Programs map[string]*Summary `json:"programs"`
}

// Summary of a program's runs of a case.
type Summary struct {
	EpochSeconds   float64     `json:"epoch_seconds"`
	CompileSeconds float64     `json:"compile_seconds,omitempty"`
	PeakBytes      int64       `json:"peak_bytes"`
	Iterations     *Iterations `json:"iterations,omitempty"`
	// TimeRatio is the median over the rounds of its seconds per epoch over revgnn's, MemoryRatio that of the peaks;
	// above 1 revgnn is better. Both are 0 where there is nothing to compare.
	TimeRatio   float64 `json:"time_ratio,omitempty"`
	MemoryRatio float64 `json:"memory_ratio,omitempty"`
	// LossDifference is the largest relative difference of its losses to revgnn's, over all Steps that both made.
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
		if len(runs) == 0 && s.Error == "" {
			continue
		}
		r.Programs[which] = s
		if len(runs) == 0 {
			continue
		}
		s.EpochSeconds = over(runs, func(x Run) float64 { return x.EpochSeconds })
		s.CompileSeconds = over(runs, func(x Run) float64 { return x.CompileSeconds })
		s.PeakBytes = int64(over(runs, func(x Run) float64 { return float64(x.PeakBytes) }))
		s.Iterations, s.Steps = runs[0].Iterations, len(runs[0].Losses)
		if which != Ours && len(ours) > 0 {
			s.compare(ours, runs)
		}
	}
}

// compare fills in how runs compare with revgnn's of the same rounds.
func (s *Summary) compare(ours, runs []Run) {
	var time, memory []float64
	for _, x := range runs {
		i := slices.IndexFunc(ours, func(o Run) bool { return o.Round == x.Round })
		if i < 0 {
			continue
		}
		time = append(time, x.EpochSeconds/ours[i].EpochSeconds)
		memory = append(memory, float64(x.PeakBytes)/float64(ours[i].PeakBytes))
	}
	if len(time) > 0 {
		s.TimeRatio, s.MemoryRatio = metrics.Median(time), metrics.Median(memory)
	}
	s.Steps = min(len(ours[0].Losses), len(runs[0].Losses))
	s.LossDifference = difference(ours[0].Losses[:s.Steps], runs[0].Losses[:s.Steps])
}

// of are a program's runs that have numbers.
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

// difference is the largest relative difference of two sequences' values.
func difference(a, b []float64) (worst float64) {
	for i := range a {
		worst = max(worst, math.Abs(a[i]-b[i])/max(math.Abs(a[i]), math.Abs(b[i]), math.SmallestNonzeroFloat64))
	}
	return worst
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
