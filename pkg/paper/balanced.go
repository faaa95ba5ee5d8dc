package paper

import (
	"fmt"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
)

// balanced adds a table of the rows that were published for class-balanced splits, run on such, and by hovering the
// difference to the paper's random splits.
func (d *Document) balanced(v *View, p *Performance, all searches, name string) {
	t := &report.Table{ID: name + "-balanced", Title: v.title("Rows published for class-balanced splits, run on those"),
		Corner: "Model"}
	for _, dataset := range p.Columns {
		t.Columns = append(t.Columns,
			report.Column{Group: dataset, Name: "ours", Unit: unit(dataset)},
			report.Column{Group: dataset, Name: "paper", Unit: unit(dataset)})
	}
	from := ""
	for _, row := range p.Rows {
		if !row.Balanced {
			continue
		}
		from = row.From
		r := report.Row{Label: row.Name}
		for k, dataset := range p.Columns {
			published := row.Cells[k]
			on := v.Search(dataset+data.Balanced, row.Model)
			c := cell(on, published.Mean)
			if here := all[[2]string{row.Model, dataset}]; len(on.Values()) > 0 && len(here.Values()) > 0 {
				c = c.Hover(fmt.Sprintf("%+.2f to the paper's splits", mean(on)-mean(here)))
			}
			r.Cells = append(r.Cells, c, report.Mean(published.Mean, published.Std, 10, 2).Published())
		}
		t.Rows = append(t.Rows, r)
	}
	if from == "" {
		return
	}
	d.Tables = append(d.Tables, t)
	d.note("The rows of %s were published for splits with equally many training nodes of each class, which the paper "+
		"sets beside its own results on plain random splits. A class with fewer nodes than that is used up in training "+
		"and never tested: two of seven on Cora, one of six on Citeseer, six of ten on Computers. Both are run here: "+
		"on the paper's splits above, on theirs in a table of its own (datasets cora%s and so on), with settings "+
		"chosen on each.", from, data.Balanced)
}

func mean(f runs.Found) float64 { return metrics.Mean(f.Values()) }
