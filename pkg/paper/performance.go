package paper

import (
	"fmt"
	"math"
	"strings"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/report"
)

// searches has our result for each pair of a model and a dataset.
type searches map[[2]string]experiment.Found

// performance makes table 2, 3 or 6. It shows all rows of the paper's table, our results beside them where there are
// runs, and rows of gains.
func performance(v *View, name string) *Document {
	p := published[Performance](name)
	d := &Document{}
	all := searches{}
	for _, row := range p.Rows {
		for _, dataset := range p.Columns {
			if _, err := models.Lookup(row.Model); err == nil {
				all[[2]string{row.Model, dataset}] = v.Search(dataset, row.Model)
			}
		}
	}
	d.Tables = append(d.Tables, v.results(p, all, name))
	d.balanced(v, p, all, name)
	d.Tables = append(d.Tables, v.settingsTable(p, all, name))
	d.note("Numbers are the %s. Ours are over the profile's splits, with the sample standard deviation.", p.Metric)
	d.note("Settings of ours are chosen on the validation metric alone, among the candidates of the profile, on the "+
		"first %s; the test metric reported is that of the settings chosen.", count(v.Profile.Tried, "split"))
	d.note("Δ is with reverse layers less without, split by split; p is from a two-sided paired t-test over the "+
		"splits, which needs %d at least.", leastPairs)
	d.Notes = append(d.Notes, behind(p, all)...)
	d.Notes = append(d.Notes, slips(p)...)
	return d
}

// results returns the table with our results beside the published ones. Below each model with a reverse process is a
// row of the model's gains.
func (v *View) results(p *Performance, all searches, name string) *report.Table {
	t := &report.Table{ID: name, Title: v.title(p.Title), Corner: "Model"}
	for _, dataset := range p.Columns {
		t.Columns = append(t.Columns,
			report.Column{Group: dataset, Name: "ours", Unit: unit(dataset), Best: report.Highest},
			report.Column{Group: dataset, Name: "paper", Unit: unit(dataset)})
	}
	for _, row := range p.Rows {
		cells := make([]report.Cell, 0, 2*len(p.Columns))
		for k, dataset := range p.Columns {
			theirs := report.Mean(row.Cells[k].Mean, row.Cells[k].Std, 10, 2).Published()
			if row.Layers != nil {
				theirs = theirs.Below(report.Text(fmt.Sprintf("(%d/%d)", row.Layers[k][0], row.Layers[k][1])))
			}
			f, have := all[[2]string{row.Model, dataset}]
			if !have {
				f.Why = "not run: revgnn does not have this model"
			}
			cells = append(cells, cell(f, row.Cells[k].Mean), theirs)
		}
		t.Rows = append(t.Rows, report.Row{Group: p.Groups[row.Group], Label: row.Name, Cells: cells})
		if plain := p.plain(row); plain != nil {
			t.Rows = append(t.Rows, deltas(p, row, plain.Model, all))
		}
	}
	return t
}

// unit returns the name and the unit of a dataset's metric, for headings.
func unit(dataset string) string {
	if experiment.SizeOf(dataset).Classes == 2 {
		return "ROC-AUC [%]"
	}
	return "accuracy [%]"
}

// cell returns the table cell for our result f. The argument paper is the published mean; the cell shows our difference
// to it.
func cell(f experiment.Found, paper float64) report.Cell {
	values := f.Values()
	if len(values) == 0 {
		why := f.Why
		if why == "" {
			why = strings.Join(f.Bad, "; ")
		}
		return report.Missing(why)
	}
	c := overSplits(values)
	if len(f.Bad) == 0 && f.Missing == 0 {
		c = c.Ranked()
	}
	c = c.Below(report.Text("("+f.Config.Depth()+")"), report.Text(fmt.Sprintf("%+.2f to the paper",
		metrics.Mean(values)-paper)))
	if f.Seeds > 1 {
		c = c.Below(report.Text(fmt.Sprintf("%d seeds a split, ±%.2f over seeds", f.Seeds, 100*f.SeedStd)))
	}
	if f.Missing > 0 {
		c = c.Below(report.Text(fmt.Sprintf("%s of %d not run yet", count(f.Missing, "split"), len(f.Splits))))
	}
	if len(f.Bad) > 0 {
		c = c.Below(report.Text(fmt.Sprintf("%d of %s failed, not in the mean: %s", len(f.Bad),
			count(len(f.Splits), "split"), strings.Join(f.Bad, "; "))))
	}
	return c
}

// overSplits returns a cell with the mean of the values and their sample standard deviation, which a single value does
// not have.
func overSplits(values []float64) report.Cell {
	spread := math.NaN()
	if len(values) > 1 {
		spread = metrics.SampleStd(values)
	}
	return report.Mean(metrics.Mean(values), spread, len(values), 2)
}

// deltas returns the row of gains, ours and the published ones, for the model of the given row. The argument called
// plain is the name of the model's plain backbone.
func deltas(p *Performance, row PerformanceRow, plain string, all searches) report.Row {
	r := report.Row{Group: p.Groups[row.Group], Label: "Δ"}
	for k, dataset := range p.Columns {
		with, without := all[[2]string{row.Model, dataset}], all[[2]string{plain, dataset}]
		gains := with.Gains(without)
		c := report.Missing("not run with and without reverse layers on the same splits")
		if len(gains) > 0 {
			c = report.Difference(metrics.Mean(gains), 2).Below(report.Text(tested(gains)))
		}
		theirs := report.Missing("the paper does not print it")
		if row.Delta != nil {
			theirs = report.Difference(row.Delta[k], 2)
		}
		r.Cells = append(r.Cells, c, theirs.Published())
	}
	return r
}

// tested describes in a few words the result of a paired test of gains, and the number of splits.
func tested(gains []float64) string {
	n := count(len(gains), "split")
	if len(gains) < leastPairs {
		return n + ", too few to test"
	}
	return probability(gains) + ", " + n
}

// probability describes the p-value of a paired test of gains.
func probability(gains []float64) string {
	p := pairedT(gains)
	switch {
	case len(gains) < leastPairs:
		return "too few splits to test"
	case math.IsNaN(p):
		return "all differences equal"
	case p < 0.001:
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.3f", p)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
