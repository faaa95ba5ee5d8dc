package paper

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
)

// behind makes a note for each model with a reverse process. The note lists the datasets on which the mean gain is zero
// or negative, or on which the model diverged on a split. If there are no such datasets, the note lists the datasets on
// which the mean gain is positive. If judged is true, there are no notes for models whose gains the paper has, since
// the document's verdicts are about them.
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

// slips makes a note for each wrong gain in a published table. The gain of a model should be the difference of two
// means in the same table: that of the model, and that of its plain backbone.
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

// settingsTable returns a table of the settings that were chosen for each model and dataset.
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

// chosenBy says how the settings of a result were chosen: the ID of the search that found them, or their source, and
// the number of candidates if there were several. For a single candidate without a search or a source, the text is "the
// profile".
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
