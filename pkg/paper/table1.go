package paper

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// The random graphs of table 1 have so many nodes, and so many edges unless those are varied.
const complexityNodes, complexityEdges = 32000, 128000

// varied are the quantities of table 1, and the values that each takes while the others keep theirs.
var varied = []struct {
	quantity string
	values   []int
	set      func(c *train.Config, edges *int, value int)
}{
	{"L_F", []int{32, 64, 128, 256}, func(c *train.Config, _ *int, v int) { c.Forward, c.Reverse = v, 1 }},
	{"L_R", []int{8, 16, 32, 64}, func(c *train.Config, _ *int, v int) { c.Reverse = v }},
	{"M", []int{4, 8, 16, 32}, func(c *train.Config, _ *int, v int) { c.MaxIterations = v }},
	{"|E|", []int{128000, 256000, 512000, 1024000}, func(_ *train.Config, edges *int, v int) { *edges = v }},
	{"d", []int{32, 64, 128, 256}, func(c *train.Config, _ *int, v int) { c.Hidden, c.Reverse = v, 2 }},
}

// complexityTask times GCN+ReP with every solve taking exactly M iterations.
func complexityTask(set func(c *train.Config, edges *int, value int), value int) Task {
	c := train.Default(models.GCNRep)
	c.Forward, c.Reverse, c.Hidden, c.MaxIterations, c.Tolerance, c.Epochs = 1, 8, 64, 8, 0, 4
	edges, nodes := complexityEdges, complexityNodes
	if set == nil {
		nodes, edges = 100, 200 // next to nothing: what the programme itself takes
	} else {
		set(&c, &edges, value)
	}
	return whole(results.Bench, fmt.Sprintf(randomName, nodes, edges), c)
}

// complexity is table 1: stated and measured exponents.
func complexity(v *View) *Document {
	p := published[Complexities]("table1")
	stated := &report.Table{ID: "table1", Title: "Complexity as the paper states it", Corner: "", Columns: []report.Column{{Name: p.Columns[0]}, {Name: p.Columns[1]}}}
	for _, row := range p.Rows {
		r := report.Row{Label: row.Name}
		for _, c := range row.Cells {
			if c == "none" {
				r.Cells = append(r.Cells, report.Text("none").Published())
				continue
			}
			r.Cells = append(r.Cells, report.Formula(c).Published())
		}
		stated.Rows = append(stated.Rows, r)
	}
	t := &report.Table{ID: "table1-exponents", Title: v.title("Powers of each quantity in a training step of GCN+ReP"), Corner: "Quantity", Columns: []report.Column{
		{Group: "time", Name: "ours"}, {Group: "time", Name: "paper"}, {Group: "memory", Name: "ours"}, {Group: "memory", Name: "paper"}}}
	raw := &report.Table{ID: "table1-measured", Title: v.title("What was measured"), Corner: "Quantity and value", Columns: []report.Column{
		{Name: "seconds per step"}, {Name: "memory", Unit: "MB over the programme's own"}}}
	var idle Answer[Timed]
	v.within("table1", func() { idle = ask[Timed](v, complexityTask(nil, 0)) })
	for i, q := range varied {
		var x, seconds, memory []float64
		why := ""
		for _, value := range q.values {
			var a Answer[Timed]
			v.within("table1", func() { a = ask[Timed](v, complexityTask(q.set, value)) })
			label, own := fmt.Sprintf("%s = %d", q.quantity, value), report.Missing("not measured: the run shared its process")
			if !a.ok() {
				why = a.Why
				raw.Rows = append(raw.Rows, report.Row{Label: label, Cells: []report.Cell{report.Missing(why), report.Missing(why)}})
				continue
			}
			x, seconds = append(x, float64(value)), append(seconds, a.Outcome.EpochSeconds)
			if m := a.Outcome.own() - idle.Outcome.own(); m > 0 && idle.ok() {
				memory = append(memory, m)
				own = report.Number(m/1e6, 0)
			}
			raw.Rows = append(raw.Rows, report.Row{Label: label, Cells: []report.Cell{report.Number(a.Outcome.EpochSeconds, 4), own}})
		}
		t.Rows = append(t.Rows, report.Row{Label: q.quantity, Cells: []report.Cell{power(x, seconds, len(q.values), why), report.Number(p.Exponents[i].Time, 0).Published(),
			power(x, memory, len(q.values), why), report.Number(p.Exponents[i].Memory, 0).Published()}})
	}
	d := &Document{Tables: []*report.Table{stated, t, raw}}
	d.note("Ours are slopes of straight lines through the logarithms, with R²; of time, of a whole training step (forwards, backwards, Adam). The paper's are the highest powers in the rows of time and of memory; with the number of nodes fixed.")
	d.note("A random graph of %d nodes and %d edges, L_F = 1, L_R = 8, M = 8, d = 64, but for the quantity varied (L_F: with L_R = 1; d: with L_R = 2); each solve makes exactly M iterations (tolerance 0), and so does its adjoint.", complexityNodes, complexityEdges)
	d.note("Memory is the process's peak over that before the run, less the same of a graph of 100 nodes. The reverse chain rewinds itself, so that memory depends neither on L_R nor on M; the forward chain keeps 2 sqrt(L_F) states, or all where they fit into 64 MiB.")
	return d
}

// own is the memory that a benchmark took, in bytes; 0 where it is not known.
func (t Timed) own() float64 {
	if t.IdleRSS == 0 {
		return 0
	}
	return float64(t.PeakRSS - t.IdleRSS)
}

// power is the exponent of y ~ x^p, of all points or none.
func power(x, y []float64, points int, why string) report.Cell {
	if len(y) < points || len(x) < points {
		if why == "" {
			why = "no memory to measure: too little beside the programme's own, or the run shared its process"
		}
		return report.Missing(why)
	}
	f, err := exponent(x, y)
	if err != nil {
		return report.Missing(err.Error())
	}
	return report.Number(f.Slope, 2).Below(report.Text(fmt.Sprintf("R² = %.3f", f.R2)))
}
