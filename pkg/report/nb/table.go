package nb

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report"
)

// A Column of a table of runs: [ForwardLayers], [Validation], [Adds] and so on.
type Column struct {
	Heading func(Runs) report.Column
	Cell    func(Runs, Run) report.Cell
}

// These columns are variables. Columns such as [Test] are functions instead, since their number of decimals is an
// argument.
var (
	ForwardLayers = count("Layers", "forward", func(r Run) int { return r.Forward })
	ReverseLayers = count("Layers", "reverse", func(r Run) int { return r.Reverse })
	Epochs        = count("", "epochs", func(r Run) int { return r.Epochs })
	BestEpoch     = count("", "best epoch", func(r Run) int { return r.BestEpoch })
	Seconds       = Column{
		Heading: func(Runs) report.Column { return report.Column{Name: "seconds"} },
		Cell:    func(_ Runs, r Run) report.Cell { return report.Number(r.Seconds, 1) },
	}
)

func count(group, name string, of func(Run) int) Column {
	return Column{
		Heading: func(Runs) report.Column { return report.Column{Group: group, Name: name} },
		Cell:    func(_ Runs, r Run) report.Cell { return report.Count(of(r)) },
	}
}

// Validation is the metric on the validation nodes, in percent; the best is marked.
func Validation(decimals int) Column {
	return score("validation", decimals, func(r Run) float64 { return r.Val })
}

// Test is the metric on the test nodes, in percent; the best is marked.
func Test(decimals int) Column {
	return score("test", decimals, func(r Run) float64 { return r.Test })
}

func score(name string, decimals int, of func(Run) float64) Column {
	return Column{
		Heading: func(rs Runs) report.Column {
			return report.Column{Group: rs.Metric, Name: name, Unit: "%", Best: report.Highest}
		},
		Cell: func(_ Runs, r Run) report.Cell { return report.Number(100*of(r), decimals).Ranked() },
	}
}

// Adds is the test metric of a run less that of its Base, in percentage points; what names the cause in the heading.
func Adds(what string, decimals int) Column {
	return Column{
		Heading: func(rs Runs) report.Column {
			return report.Column{Group: rs.Metric, Name: fmt.Sprintf("test, %s adds", what), Unit: "percentage points"}
		},
		Cell: func(rs Runs, r Run) report.Cell {
			base := rs.find(r.Base)
			if base == nil {
				return report.Cell{}
			}
			return report.Difference(100*(r.Test-base.Test), decimals)
		},
	}
}

// Table compares the runs, a row each.
func (rs Runs) Table(id, title string, columns ...Column) *report.Table {
	t := &report.Table{ID: id, Title: title, Corner: "Network"}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Heading(rs))
	}
	for _, r := range rs.Runs {
		row := report.Row{Label: r.Name}
		for _, c := range columns {
			row.Cells = append(row.Cells, c.Cell(rs, r))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
