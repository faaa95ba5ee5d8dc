package live

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/trained"
)

// Judged are two tables of how well a model tells the classes of nodes ([trained.Model.Evaluate]), with IDs that begin
// with id: all measures, a column for each part of the nodes, and the confusion matrix of the last part.
func Judged(id string, m *trained.Model, parts []trained.Evaluation) []report.Item {
	t := &report.Table{ID: id + "-measures", Title: "How well " + m.Config.Model + " tells the classes", Corner: "Measure"}
	for _, measure := range metrics.Measures {
		row := report.Row{Label: measure.Title}
		for i, p := range parts {
			factor, unit := measure.Scale()
			if len(t.Rows) == 0 {
				t.Columns = append(t.Columns, report.Column{Name: fmt.Sprintf("%s (%d nodes)", p.Part, p.Nodes)})
			}
			cell := report.Missing(fmt.Sprintf("a class has no %s nodes", p.Part))
			if v, defined := p.Measures[measure.Name]; defined && v == v {
				cell = report.Number(factor*float64(v), map[string]int{"%": 1, "nats": 3}[unit])
			}
			if row.Cells = append(row.Cells, cell); i == 0 {
				row.Label += " [" + unit + "]"
			}
		}
		t.Rows = append(t.Rows, row)
		if at, tuned := m.Thresholds[measure.Name]; tuned {
			t.Notes = append(t.Notes, fmt.Sprintf("For the %s, a node is taken for %s above a probability of %.3g, which was best on "+
				"the validation nodes.", measure.Title, m.Classes[1], at))
		}
	}
	last := parts[len(parts)-1]
	title := fmt.Sprintf("Confusion matrix of the %s nodes", last.Part)
	if len(m.Classes) == 2 {
		title += fmt.Sprintf(": %s above a probability of %.3g", m.Classes[1], m.Threshold())
	}
	return []report.Item{t, report.Confusion(id+"-confusion", title, m.Classes, last.Confusion)}
}
