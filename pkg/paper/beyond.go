package paper

import (
	"slices"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/report"
)

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
