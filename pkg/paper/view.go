package paper

import (
	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/models"
)

// View is what items see: the runs that are there, and the profile.
type View struct {
	*experiment.View
	Profile Profile
}

// title says the profile, so that no picture or table stands alone without it.
func (v *View) title(text string) string { return text + " (profile " + v.Profile.Name + ")" }

// titleOf is what tables call a model.
func titleOf(model string) string {
	if k, err := models.Lookup(model); err == nil {
		return k.Title
	}
	return model
}
