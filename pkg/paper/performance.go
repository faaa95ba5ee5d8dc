package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/report"
)

// performance is table 2, 3 or 6: all rows of the paper, with ours where they were run, and the difference that reverse layers
// make.
func performance(v *View, name string) *Document {
	p := published[Performance](name)
	d := &Document{}
	all := map[[2]string]found{}
	for _, row := range p.Rows {
		for _, dataset := range p.Columns {
			if slices.Contains(models.Names(), row.Model) {
				all[[2]string{row.Model, dataset}] = v.search(dataset, row.Model)
			}
		}
	}
	t := &report.Table{ID: name, Title: v.title(p.Title), Corner: "Model"}
	for _, dataset := range p.Columns {
		t.Columns = append(t.Columns, report.Column{Group: dataset, Name: "ours", Unit: unit(dataset), Best: report.Highest},
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
				f.why = "not run: revgnn does not have this model"
			}
			cells = append(cells, f.cell(row.Cells[k].Mean), theirs)
		}
		t.Rows = append(t.Rows, report.Row{Group: p.family(row), Label: row.Name, Cells: cells})
		if plain, is := strings.CutSuffix(row.Model, "+rep"); is {
			t.Rows = append(t.Rows, deltas(p, row, plain, all))
		}
	}
	d.Tables = append(d.Tables, t, v.settingsTable(p, all, name))
	d.note("Numbers are the %s. Ours are over the profile's splits, with the sample standard deviation.", p.Metric)
	d.note("Settings of ours are chosen on the validation metric alone, among the candidates of the profile, on the first %s; the test metric reported is that of the settings chosen.", count(v.Profile.Tried, "split"))
	d.note("Δ is with reverse layers less without, split by split; p is from a two-sided paired t-test over the splits, which needs %d at least.", leastPairs)
	d.Notes = append(d.Notes, behind(p, all)...)
	d.Notes = append(d.Notes, slips(p)...)
	return d
}

// unit of a dataset's results.
func unit(dataset string) string {
	if sizeOf(dataset).classes == 2 {
		return "ROC-AUC [%]"
	}
	return "accuracy [%]"
}

// cell shows our result beside the paper's mean.
func (f found) cell(paper float64) report.Cell {
	values := f.values()
	if len(values) == 0 {
		why := f.why
		if why == "" {
			why = strings.Join(f.bad, "; ")
		}
		return report.Missing(why)
	}
	c := overSplits(values)
	if len(f.bad) == 0 && f.missing == 0 {
		c = c.Ranked()
	}
	c = c.Below(report.Text("("+depths(f.config)+")"), report.Text(fmt.Sprintf("%+.2f to the paper", metrics.Mean(values)-paper)))
	if f.missing > 0 {
		c = c.Below(report.Text(fmt.Sprintf("%s of %d not run yet", count(f.missing, "split"), len(f.splits))))
	}
	if len(f.bad) > 0 {
		c = c.Below(report.Text(fmt.Sprintf("%d of %s failed, not in the mean: %s", len(f.bad), count(len(f.splits), "split"), strings.Join(f.bad, "; "))))
	}
	return c
}

// overSplits is the mean with the sample standard deviation, which one value does not have.
func overSplits(values []float64) report.Cell {
	spread := math.NaN()
	if len(values) > 1 {
		spread = metrics.SampleStd(values)
	}
	return report.Mean(metrics.Mean(values), spread, len(values), 2)
}

// deltas is the row of differences that reverse layers make.
func deltas(p *Performance, row PerformanceRow, plain string, all map[[2]string]found) report.Row {
	r := report.Row{Group: p.family(row), Label: "Δ"}
	for k, dataset := range p.Columns {
		with, without := all[[2]string{row.Model, dataset}], all[[2]string{plain, dataset}]
		gains := with.gains(without)
		c := report.Missing("not run with and without reverse layers on the same splits")
		if len(gains) > 0 {
			c = report.Difference(metrics.Mean(gains), 2).Below(report.Text(tested(gains)))
		}
		r.Cells = append(r.Cells, c, report.Difference(row.Delta[k], 2).Published())
	}
	return r
}

// tested says what a paired test makes of differences.
func tested(gains []float64) string {
	n := count(len(gains), "split")
	if len(gains) < leastPairs {
		return n + ", too few to test"
	}
	p := pairedT(gains)
	switch {
	case math.IsNaN(p):
		return "all differences equal, " + n
	case p < 0.001:
		return "p < 0.001, " + n
	}
	return fmt.Sprintf("p = %.3f, %s", p, n)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// behind notes where reverse layers did not help.
func behind(p *Performance, all map[[2]string]found) (notes []string) {
	for _, row := range p.Rows {
		plain, is := strings.CutSuffix(row.Model, "+rep")
		if !is {
			continue
		}
		var where, ahead []string
		for _, dataset := range p.Columns {
			gains := all[[2]string{row.Model, dataset}].gains(all[[2]string{plain, dataset}])
			switch mean := metrics.Mean(gains); {
			case len(gains) == 0:
			case mean > 0:
				ahead = append(ahead, dataset)
			default:
				where = append(where, fmt.Sprintf("%s (%+.2f; %s)", dataset, mean, tested(gains)))
			}
		}
		if len(where) > 0 {
			notes = append(notes, fmt.Sprintf("%s is not ahead of its plain backbone here on %s.", row.Name, strings.Join(where, ", ")))
		} else if len(ahead) > 0 {
			notes = append(notes, fmt.Sprintf("%s is ahead of its plain backbone here on %s.", row.Name, strings.Join(ahead, ", ")))
		}
	}
	return notes
}

// slips notes where the paper's differences are not those of its means.
func slips(p *Performance) (notes []string) {
	for _, row := range p.Rows {
		base := p.row(strings.TrimSuffix(row.Model, "+rep"))
		for k, delta := range row.Delta {
			if own := row.Cells[k].Mean - base.Cells[k].Mean; math.Abs(own-delta) > 0.006 {
				notes = append(notes, fmt.Sprintf("The paper prints %+.2f as the difference of %s on %s, while its two means differ by %+.2f.", delta, row.Name, p.Columns[k], own))
			}
		}
	}
	return notes
}

// settingsTable lists the settings chosen.
func (v *View) settingsTable(p *Performance, all map[[2]string]found, name string) *report.Table {
	t := &report.Table{ID: name + "-settings", Title: v.title("Settings of our runs, chosen on validation"), Corner: "Dataset, model",
		Columns: []report.Column{{Name: "layers"}, {Name: "hidden"}, {Name: "lr"}, {Name: "dropout"}, {Name: "weight decay"}, {Name: "c"}, {Name: "normalisation"}, {Name: "epochs, patience"}, {Name: "splits"}}}
	for _, dataset := range p.Columns {
		for _, row := range p.Rows {
			f, have := all[[2]string{row.Model, dataset}]
			if !have || f.config.Model == "" {
				continue
			}
			c := f.config
			bound := report.Text("none")
			if c.HasReverse() && c.Lipschitz > 0 && !strings.HasPrefix(c.Model, models.GRAND) {
				bound = report.Text(fmt.Sprint(c.Lipschitz))
			}
			t.Rows = append(t.Rows, report.Row{Label: dataset + ", " + row.Name, Cells: []report.Cell{report.Text(depths(c)), report.Count(c.Hidden), report.Text(fmt.Sprint(c.LearningRate)),
				report.Text(fmt.Sprint(c.Dropout)), report.Text(fmt.Sprint(c.WeightDecay)), bound, report.Text(c.Norm), report.Text(fmt.Sprintf("%d, %d", c.Epochs, c.Patience)), report.Text(fmt.Sprint(f.splits))}})
		}
	}
	if len(t.Rows) == 0 {
		t.Rows = []report.Row{{Label: "none yet", Cells: make([]report.Cell, len(t.Columns))}}
	}
	return t
}
