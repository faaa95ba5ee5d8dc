package paper

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
)

// task is the benchmark in which q has the value.
func (c Complexity) task(q Quantity, value int) (runs.Task, error) {
	at, graph := runs.Settings{}, c.Graph
	for key, setting := range q.Settings {
		at[key] = setting
	}
	if q.Setting == "" {
		graph.Edges = value
	} else {
		at[q.Setting] = json.RawMessage(fmt.Sprint(value))
	}
	model, err := at.With(c.Model.Config)
	if err == nil {
		err = model.Validate()
	}
	return runs.Whole(runs.Bench, graph.name(), model), err
}

func (r Random) name() string { return runs.RandomGraph(r.Nodes, r.Edges) }

// complexity makes table 1: time and memory of a training step are about proportional to a power of each quantity; the
// exponents that we measured stand beside those of the paper's formulas.
func complexity(v *View) *Document {
	p, c := published[Complexities]("table1"), v.Profile.Complexity
	t := &report.Table{ID: "table1-exponents",
		Title: v.title("Powers of each quantity in a training step of " + titleOf(c.Model.Model)), Corner: "Quantity",
		Columns: append(beside("time", ""), beside("memory", "")...)}
	raw := &report.Table{ID: "table1-measured", Title: v.title("What was measured"), Corner: "Quantity and value",
		Columns: []report.Column{
			{Name: "seconds per step"}, {Name: "memory", Unit: "MB over the program's own"}}}
	for i, q := range c.Quantities {
		m := v.measure(q)
		raw.Rows = append(raw.Rows, m.rows...)
		t.Rows = append(t.Rows, report.Row{Label: q.Quantity,
			Cells: []report.Cell{power(m.exponent(m.seconds)), report.Number(p.Exponents[i].Time, 0).Published(),
				power(m.exponent(m.memory)), report.Number(p.Exponents[i].Memory, 0).Published()}})
	}
	d := &Document{Tables: []*report.Table{stated(p), t, raw}}
	d.note("Ours are slopes of straight lines through the logarithms, with R²; of time, of a whole training step " +
		"(forwards, backwards, Adam). The paper's are the highest powers in the rows of time and of memory; with " +
		"the number of nodes fixed.")
	d.note("A random graph of %d nodes and %d edges, %s", c.Graph.Nodes, c.Graph.Edges, c.Note)
	d.note("Memory is the process's peak over that before the run, less the same of a graph of %d nodes. The "+
		"reverse chain rewinds itself, so that memory depends neither on L_R nor on M; the forward chain keeps 2 "+
		"sqrt(L_F) states, or all where they fit into 64 MiB.", c.Idle.Nodes)
	return d
}

// stated is table 1 as in the paper.
func stated(p *Complexities) *report.Table {
	t := &report.Table{ID: "table1", Title: "Complexity as the paper states it", Corner: "",
		Columns: []report.Column{{Name: p.Columns[0]}, {Name: p.Columns[1]}}}
	for _, row := range p.Rows {
		r := report.Row{Label: row.Name}
		for _, c := range row.Cells {
			if c == "none" {
				r.Cells = append(r.Cells, report.Text("none").Published())
				continue
			}
			r.Cells = append(r.Cells, report.Formula(c).Published())
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// measured are benchmarks in which one quantity varies: its values x, times, and memory less that of a benchmark on a
// tiny graph; rows show them.
type measured struct {
	x, seconds, memory []float64
	rows               []report.Row
	why                string // some are missing
}

// measure asks for the benchmarks of a quantity.
func (v *View) measure(q Quantity) (m measured) {
	c := v.Profile.Complexity
	nothing := v.timed("table1", c.Idle.name(), c.Model.Config)
	for _, value := range q.Values {
		row := report.Row{Label: fmt.Sprintf("%s = %d", q.Quantity, value)}
		t, err := c.task(q, value)
		a := runs.Answer[runs.Timed]{}
		if err != nil {
			a.Why = "not run: " + err.Error()
		} else {
			a = v.timed("table1", t.Dataset, t.Config)
		}
		if a.OK() {
			m.x, m.seconds = append(m.x, float64(value)), append(m.seconds, a.Outcome.EpochSeconds)
			memory := report.Missing("not measured: the run shared its process")
			if own := a.Outcome.Own() - nothing.Outcome.Own(); own > 0 && nothing.OK() {
				m.memory = append(m.memory, own)
				memory = report.Number(own/1e6, 0)
			}
			row.Cells = []report.Cell{report.Number(a.Outcome.EpochSeconds, 4), memory}
		} else {
			m.why = a.Why
			row.Cells = []report.Cell{report.Missing(m.why), report.Missing(m.why)}
		}
		m.rows = append(m.rows, row)
	}
	return m
}

// exponent fits y ∝ x^p: p is the slope of the line through the logarithms. It says why if measurements are missing.
func (m measured) exponent(y []float64) (report.Fit, string) {
	if len(y) < len(m.rows) {
		return report.Fit{}, cmp.Or(m.why,
			"no memory to measure: too little beside the program's own, or the run shared its process")
	}
	lx, ly := make([]float64, len(y)), make([]float64, len(y))
	for i := range y {
		lx[i], ly[i] = math.Log(m.x[i]), math.Log(y[i])
	}
	f, err := report.FitLine(lx, ly)
	if err != nil {
		return f, err.Error()
	}
	return f, ""
}

func power(f report.Fit, why string) report.Cell {
	if why != "" {
		return report.Missing(why)
	}
	return report.Number(f.Slope, 2).Below(report.Text(fmt.Sprintf("R² = %.3f", f.R2)))
}
