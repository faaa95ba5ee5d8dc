package paper

import (
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/runs"
)

// View gives the functions of items what they need: the outcomes of recorded runs (see [runs.View]), and the
// profile.
type View struct {
	*runs.View
	Profile Profile
}

// title adds the name of the profile to the title of a table or figure, so that readers always see the profile.
func (v *View) title(text string) string { return text + " (profile " + v.Profile.Name + ")" }

// titleOf returns the name of a model as tables show it, such as "GCN+ReP" for "gcn+rep".
func titleOf(model string) string {
	if k, err := models.Lookup(model); err == nil {
		return k.Title
	}
	return model
}
