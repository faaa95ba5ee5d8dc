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
