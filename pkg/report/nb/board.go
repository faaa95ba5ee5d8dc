package nb

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report"
)

// A Corner is the upper left part of a square board, whose cells are a graph's nodes, row by row. In a small corner
// single cells can be seen.
type Corner struct {
	Width int // the side of the whole board, in cells
	Side  int // the side of the corner, in cells; if it is larger than Width, the corner is the whole board
}

func (c Corner) side() int { return min(c.Side, c.Width) }

// Cut returns the values of the corner's cells, row by row, from those of all cells. It panics if there are fewer.
func (c Corner) Cut(values []float64) []float64 {
	if len(values) < c.Width*c.Width {
		panic(fmt.Errorf("nb: %d values for a board of %d x %d cells: give one for each cell, row by row",
			len(values), c.Width, c.Width))
	}
	var out []float64
	for row := range c.side() {
		out = append(out, values[row*c.Width:][:c.side()]...)
	}
	return out
}

// Board maps the corner of values of the whole board, under the title name.
func (c Corner) Board(id, title, valueName, name string, values []float64) *report.Figure {
	return report.Board(id, title, valueName, c.side(), c.side(), []report.Panel{{Title: name, Values: c.Cut(values)}})
}

// Boards maps labels and predictions on the corner: a row for each run without Base, with the runs that have it as
// Base. Darker cells have a higher probability of class 1, of two.
func (rs Runs) Boards(id, title, valueName string, c Corner) *report.Figure {
	truth := report.Panel{Title: "Truth", Values: c.Cut(floats(rs.Labels))}
	var strips []report.Strip
	for _, base := range rs.Runs {
		if base.Base != "" {
			continue
		}
		strip := report.Strip{Title: base.Name, Panels: []report.Panel{truth}}
		for _, r := range rs.Runs {
			if r.Name == base.Name || r.Base == base.Name {
				if r.Probability == nil {
					panic(fmt.Errorf("nb: run %q has no probability of class 1: Boards is for graphs of two classes", r.Name))
				}
				strip.Panels = append(strip.Panels, report.Panel{
					Title: fmt.Sprintf("%s: %.1f %%", r.Name, 100*r.Test), Values: c.Cut(r.Probability)})
			}
		}
		strips = append(strips, strip)
	}
	return report.Boards(id, title, valueName, c.side(), c.side(), strips)
}

func floats(labels []int32) []float64 {
	out := make([]float64, len(labels))
	for i, l := range labels {
		out[i] = float64(l)
	}
	return out
}
