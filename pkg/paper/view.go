package paper

import (
	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/models"
)

// View gives items the recorded runs, and the profile.
type View struct {
	*experiment.View
	Profile Profile
}

// title adds the profile's name, so that no picture or table is shown without it.
func (v *View) title(text string) string { return text + " (profile " + v.Profile.Name + ")" }

// titleOf is the model's name in tables.
func titleOf(model string) string {
	if k, err := models.Lookup(model); err == nil {
		return k.Title
	}
	return model
}
