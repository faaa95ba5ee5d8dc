package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
)

// searches has our results by model and dataset.
type searches map[[2]string]runs.Found

// performance makes table 2, 3 or 6: our results beside the published ones, with models that the paper does not have,
// gains, and the settings of our runs.
func performance(v *View, name string) *Document {
	p := published[Performance](name)
	more := v.addBeyond(p)
	d := &Document{}
	all := searches{}
	for _, row := range p.Rows {
		for _, dataset := range p.Columns {
			_, err := models.Lookup(row.Model)
			if err == nil && (!row.beyond || v.Profile.HasChosen(dataset, row.Model)) {
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
	d.note("The numbers of layers (forward/reverse), the seeds and the distance to the paper show when you point at a " +
		"number on the web page, and are in the CSV.")
	d.note("Δ is with reverse layers less without, split by split; p is from a two-sided paired t-test over the "+
		"splits, which needs %d at least.", leastPairs)
	if more {
		d.note("Models that are not in the paper are shown where the profile has chosen settings for them: those of a " +
			"search, or from elsewhere (docs/which-layer.md). A model and its backbone have settings of their own, so " +
			"that Δ is not the effect of the direction alone.")
	}
	if name == "table3" {
		d.note("The verdicts on these numbers are with table 6, which repeats them.")
	}
	d.Notes = append(d.Notes, behind(p, all, name != "table3")...)
	d.Notes = append(d.Notes, slips(p)...)
	return d
}

// results is the table of results; a model's gains follow its row.
func (v *View) results(p *Performance, all searches, name string) *report.Table {
	t := &report.Table{ID: name, Title: v.title(p.Title), Corner: "Model"}
	for _, dataset := range p.Columns {
		columns := beside(dataset, unit(dataset))
		columns[0].Best = report.Highest
		t.Columns = append(t.Columns, columns...)
	}
	for _, row := range p.Rows {
		cells := make([]report.Cell, 0, 2*len(p.Columns))
		for k, dataset := range p.Columns {
			f, have := all[[2]string{row.Model, dataset}]
			switch {
			case !have && row.beyond:
				f.Why = "not run: the profile has no chosen settings for it"
			case !have:
				f.Why = "not run: revgnn does not have this model"
			}
			cells = append(cells, compare(f, row, k)...)
		}
		t.Rows = append(t.Rows, report.Row{Group: p.Groups[row.Group], Label: row.Name, Cells: cells})
		if plain := p.plain(row); plain != nil {
			t.Rows = append(t.Rows, deltas(p, row, plain.Model, all))
		}
	}
	return t
}

// beside are two columns: our numbers beside the paper's.
func beside(group, unit string) []report.Column {
	return []report.Column{{Group: group, Name: "ours", Unit: unit}, {Group: group, Name: "paper", Unit: unit}}
}

func unit(dataset string) string { return metric(dataset) + " [%]" }

func metric(dataset string) string {
	if runs.SizeOf(dataset).Classes == 2 {
		return "ROC-AUC"
	}
	return "accuracy"
}

// reasons says why f has no results: the trainings that diverged, and why there are no others.
func reasons(f runs.Found) string {
	return strings.Join(append(slices.Clone(f.Bad), f.Why), "; ")
}

// absence is [reasons] in a table cell, where a list of all trainings would be too long.
func absence(f runs.Found) string {
	if f.Why == runs.AllBad {
		return f.Why
	}
	return reasons(f)
}

// compare shows our result f beside that in column k of a row, whose numbers of layers show by hovering.
func compare(f runs.Found, row PerformanceRow, k int) []report.Cell {
	if row.beyond {
		return []report.Cell{cell(f, math.NaN()), notInPaper.Published()}
	}
	published := row.Cells[k]
	theirs := report.Mean(published.Mean, published.Std, 10, 2).Published()
	if row.Layers != nil {
		theirs = theirs.Hover(fmt.Sprintf("(%d/%d)", row.Layers[k][0], row.Layers[k][1]))
	}
	return []report.Cell{cell(f, published.Mean), theirs}
}

// cell shows our result f, and by hovering its distance to the published mean, unless that is NaN.
func cell(f runs.Found, paper float64) report.Cell {
	values := f.Values()
	if len(values) == 0 {
		return report.Missing(absence(f))
	}
	c := overSplits(values)
	if len(f.Bad)+len(f.Failed)+f.Missing == 0 {
		c = c.Ranked()
	}
	c = c.Hover("(" + f.Config.Depth() + ")")
	if !math.IsNaN(paper) {
		side, apart := "above", metrics.Mean(values)-paper
		if apart < 0 {
			side = "below"
		}
		c = c.Hover(fmt.Sprintf("%.2f %s the paper", math.Abs(apart), side))
	}
	if f.Seeds > 1 {
		c = c.Hover(fmt.Sprintf("%d seeds a split, ±%.2f over seeds", f.Seeds, 100*f.SeedStd))
	}
	if f.Missing > 0 {
		c = c.Below(report.Text(fmt.Sprintf("%s of %d not run yet", count(f.Missing, "split"), len(f.Splits))))
	}
	if bad := slices.Concat(f.Bad, f.Failed); len(bad) > 0 {
		c = c.Below(report.Text(fmt.Sprintf("%d of %s without a result, not in the mean: %s", len(bad),
			count(len(f.Splits), "split"), strings.Join(bad, "; "))))
	}
	return c
}

// overSplits is the mean over splits with its sample standard deviation.
func overSplits(values []float64) report.Cell {
	spread := math.NaN()
	if len(values) > 1 {
		spread = metrics.SampleStd(values)
	}
	return report.Mean(metrics.Mean(values), spread, len(values), 2)
}

// deltas is the row Δ of gains of a model over its plain backbone, ours and published.
func deltas(p *Performance, row PerformanceRow, plain string, all searches) report.Row {
	r := report.Row{Group: p.Groups[row.Group], Label: "Δ"}
	for k, dataset := range p.Columns {
		with, without := all[[2]string{row.Model, dataset}], all[[2]string{plain, dataset}]
		c := gain(with, without, "not run with and without reverse layers on the same splits")
		theirs := report.Missing("the paper does not print it")
		switch {
		case row.beyond:
			theirs = notInPaper
		case row.Delta != nil:
			theirs = report.Difference(row.Delta[k], 2)
		}
		r.Cells = append(r.Cells, c, theirs.Published())
	}
	return r
}

// gain shows the mean gain of a model with reverse layers over one without, and the p-value of a paired t-test. A mean
// without the splits on which the model diverged says so, since it is too good.
func gain(with, without runs.Found, none string) report.Cell {
	gains := with.Gains(without)
	if len(gains) == 0 {
		return report.Missing(none)
	}
	c := report.Difference(metrics.Mean(gains), 2).Below(report.Text(tested(gains)))
	if len(with.Bad) > 0 {
		c = c.Below(report.Text("without " + count(len(with.Bad), "split") + " on which it diverged"))
	}
	return c
}

// tested is the result of a paired t-test of gains, such as "p = 0.031, 10 splits".
func tested(gains []float64) string {
	n := count(len(gains), "split")
	if len(gains) < leastPairs {
		return n + ", too few to test"
	}
	return probability(gains) + ", " + n
}

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

var notInPaper = report.Missing("not in the paper")

// addBeyond adds a row for each model that the paper does not have and for which the profile has chosen settings.
func (v *View) addBeyond(p *Performance) (added bool) {
	for _, k := range models.Kinds() { // in this order, a backbone comes before the model with a reverse process
		on := func(dataset string) bool { return v.Profile.HasChosen(dataset, k.Name) }
		if p.row(k.Name) != nil || !slices.ContainsFunc(p.Columns, on) {
			continue
		}
		if !added {
			p.Groups, added = append(p.Groups, "Not in the paper"), true
		}
		row := PerformanceRow{Name: k.Title, Model: k.Name, Group: len(p.Groups) - 1, beyond: true}
		p.Rows = append(p.Rows, row)
	}
	return added
}

// balanced adds a table of the rows that were published for class-balanced splits, run on such, and by hovering the
// difference to the paper's random splits.
func (d *Document) balanced(v *View, p *Performance, all searches, name string) {
	t := &report.Table{ID: name + "-balanced", Title: v.title("Rows published for class-balanced splits, run on those"),
		Corner: "Model"}
	for _, dataset := range p.Columns {
		t.Columns = append(t.Columns, beside(dataset, unit(dataset))...)
	}
	from := ""
	for _, row := range p.Rows {
		if !row.Balanced {
			continue
		}
		from = row.From
		r := report.Row{Label: row.Name}
		for k, dataset := range p.Columns {
			on := v.Search(dataset+data.Balanced, row.Model)
			both := compare(on, row, k)
			if here := all[[2]string{row.Model, dataset}]; len(on.Values()) > 0 && len(here.Values()) > 0 {
				both[0] = both[0].Hover(fmt.Sprintf("%+.2f to the paper's splits",
					metrics.Mean(on.Values())-metrics.Mean(here.Values())))
			}
			r.Cells = append(r.Cells, both...)
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

// behind makes a note for each model with reverse layers: the datasets on which it is not ahead of its backbone, or
// else those on which it is. With judged, verdicts say it for models whose gains the paper has.
func behind(p *Performance, all searches, judged bool) (notes []string) {
	for _, row := range p.Rows {
		plain := p.plain(row)
		if plain == nil || judged && row.Delta != nil {
			continue
		}
		var where, ahead []string
		for _, dataset := range p.Columns {
			with, without := all[[2]string{row.Model, dataset}], all[[2]string{plain.Model, dataset}]
			gains := with.Gains(without)
			switch mean := metrics.Mean(gains); {
			case len(with.Bad) > 0 && len(without.Tests) > 0:
				where = append(where, fmt.Sprintf("%s (it diverged on %s)", dataset, count(len(with.Bad), "split")))
			case len(gains) == 0:
			case mean > 0:
				ahead = append(ahead, dataset)
			default:
				where = append(where, fmt.Sprintf("%s (%+.2f; %s)", dataset, mean, tested(gains)))
			}
		}
		if len(where) > 0 {
			notes = append(notes, fmt.Sprintf("%s is not ahead of its plain backbone here on %s.", row.Name,
				strings.Join(where, ", ")))
		} else if len(ahead) > 0 {
			notes = append(notes, fmt.Sprintf("%s is ahead of its plain backbone here on %s.", row.Name,
				strings.Join(ahead, ", ")))
		}
	}
	return notes
}

// slips makes a note for each published gain that is not the difference of the two means in the same table.
func slips(p *Performance) (notes []string) {
	for _, row := range p.Rows {
		base := p.plain(row)
		if base == nil {
			continue
		}
		for k, delta := range row.Delta {
			if own := row.Cells[k].Mean - base.Cells[k].Mean; math.Abs(own-delta) > 0.006 {
				notes = append(notes, fmt.Sprintf("The paper prints %+.2f as the difference of %s on %s, while its "+
					"two means differ by %+.2f.", delta, row.Name, p.Columns[k], own))
			}
		}
	}
	return notes
}

// settingsTable has the settings that were chosen for each model and dataset.
func (v *View) settingsTable(p *Performance, all searches, name string) *report.Table {
	t := &report.Table{ID: name + "-settings", Title: v.title("Settings of our runs, chosen on validation"),
		Corner: "Dataset, model",
		Columns: []report.Column{{Name: "layers"}, {Name: "hidden"}, {Name: "lr"}, {Name: "dropout"},
			{Name: "weight decay"}, {Name: "c"}, {Name: "normalisation"}, {Name: "epochs, patience"},
			{Name: "splits"}, {Name: "chosen by"}}}
	for _, dataset := range p.Columns {
		for _, row := range p.Rows {
			f, have := all[[2]string{row.Model, dataset}]
			if !have || f.Config.Model == "" {
				continue
			}
			c, has := f.Config, f.Config.Values()
			set := func(name string) report.Cell {
				switch value := has[name].(type) {
				case nil:
					return report.Text("–")
				case int:
					return report.Count(value)
				default:
					return report.Text(fmt.Sprint(value))
				}
			}
			t.Rows = append(t.Rows, report.Row{Label: dataset + ", " + row.Name,
				Cells: []report.Cell{report.Text(c.Depth()), set("hidden"), set("lr"),
					set("dropout"), set("weight_decay"), set("lipschitz"), set("norm"),
					report.Text(fmt.Sprintf("%d, %d", c.Epochs, c.Patience)), report.Text(fmt.Sprint(f.Splits)),
					report.Text(chosenBy(f))}})
		}
	}
	if len(t.Rows) == 0 {
		t.Rows = []report.Row{{Label: "none yet", Cells: make([]report.Cell, len(t.Columns))}}
	}
	return t
}

// chosenBy says how settings were chosen: by which search or source, out of how many candidates.
func chosenBy(f runs.Found) string {
	from := cmp.Or(f.Search, f.Source)
	switch {
	case f.Candidates > 1 && from != "":
		return fmt.Sprintf("%s; best of %d compared", from, f.Candidates)
	case f.Candidates > 1:
		return fmt.Sprintf("the best of %d", f.Candidates)
	}
	return cmp.Or(from, "the profile")
}
