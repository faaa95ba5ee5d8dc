package paper

import (
	"slices"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/models"
)

// addBeyond adds rows to a published table, for models that the paper does not have. These are the models without a row
// in the table for which the profile has chosen settings ([experiment.Profile.Chosen]) on one of the table's datasets.
// A model with a reverse process follows its plain backbone.
func (v *View) addBeyond(p *Performance) {
	p.Groups = append(p.Groups, "Not in the paper")
	for _, k := range models.Kinds() { // in this order, backbones come first
		if p.row(k.Name) == nil && slices.ContainsFunc(p.Columns, func(d string) bool { return v.hasChosen(d, k.Name) }) {
			p.Rows = append(p.Rows, PerformanceRow{Name: k.Title, Model: k.Name, Group: len(p.Groups) - 1, beyond: true})
		}
	}
}

// hasChosen tells whether the profile has chosen settings for a model on a dataset.
func (v *View) hasChosen(dataset, model string) bool {
	return slices.ContainsFunc(v.Profile.Chosen, func(c experiment.Choice) bool {
		return c.Dataset == dataset && c.Model == model
	})
}
