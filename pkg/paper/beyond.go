package paper

import (
	"slices"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/report"
)

// notInPaper is the cell for the published result of a model that the paper does not have.
var notInPaper = report.Missing("not in the paper")

// addBeyond adds rows to a published table, for models that the paper does not have. A model gets a row if it has none
// in the table, and if the profile has chosen settings for it ([runs.Profile.Chosen]) on at least one dataset of
// the table. The result tells whether rows were added.
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
