package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/metrics"
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
	EpochSeconds   float64     `json:"epoch_seconds"`
	CompileSeconds float64     `json:"compile_seconds,omitempty"`
	PeakBytes      int64       `json:"peak_bytes"`
	Iterations     *Iterations `json:"iterations,omitempty"`
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
