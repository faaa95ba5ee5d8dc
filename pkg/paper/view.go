package paper

import (
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/runs"
)

// View has what the functions of items need: the outcomes of recorded runs, and the profile.
type View struct {
	*runs.View
	Profile Profile
}

// title adds the profile, so that readers always see it.
func (v *View) title(text string) string { return text + " (profile " + v.Profile.Name + ")" }

// titleOf is the name of a model in tables, such as "GCN+ReP" for "gcn+rep".
func titleOf(model string) string {
	if k, err := models.Lookup(model); err == nil {
		return k.Title
	}
	return model
}
