package experiment

import (
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/train"
)

// Profile says on which datasets and splits models are trained, and which settings are tried. It is data: see
// data/settings.
type Profile struct {
	Name string `json:"name"`
	// About is said on every result.
	About string `json:"about"`
	// Datasets that are run unless others are asked for.
	Datasets []string `json:"datasets"`
	// Splits to train on; on the first Tried of them settings are chosen among the candidates.
	Splits []int `json:"splits"`
	Tried  int   `json:"tried"`
	// Rules make the candidates for a dataset and a model: see [Profile.Candidates].
	Rules []Rule `json:"candidates"`
	// LeftOut is what is not run unless models or datasets are asked for by name.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Chosen are settings that an earlier search has come to, which take the place of the candidates.
	Chosen []Choice `json:"chosen,omitempty"`
}

// LeftOut are models on datasets that a profile has settings for, and leaves out for a reason.
type LeftOut struct {
	Why      string   `json:"why"`
	Datasets []string `json:"datasets"`
	Models   []string `json:"models"`
}

// leftOut says why a model is not run on a dataset; empty if it is.
func (p Profile) leftOut(dataset, model string) string {
	for _, l := range p.LeftOut {
		if slices.Contains(l.Datasets, dataset) && slices.Contains(l.Models, model) {
			return l.Why
		}
	}
	return ""
}

// Choice is the settings chosen for a model on a dataset; what it leaves out has the model's default.
type Choice struct {
	Note     string   `json:"note,omitempty"`
	Dataset  string   `json:"dataset"`
	Model    string   `json:"model"`
	Settings Settings `json:"settings"`
	// Search is the ID of the search that came to the choice: its trials are recorded as runs of that profile.
	Search string `json:"search,omitempty"`
	// Splits, if any, are trained on in place of the profile's.
	Splits []int `json:"splits,omitempty"`
	// Seeds is the number of trainings on each split, 1 if it is left out: see [Found].
	Seeds int `json:"seeds,omitempty"`
}

// Candidates are the settings to choose from for a model on a dataset: those chosen before, else what the rules make,
// in which later rules refine earlier ones. None mean that there are no settings for it.
func (p Profile) Candidates(dataset, model string) ([]train.Config, error) {
	c, found := p.chosen(dataset, model)
	if !found {
		return Candidates(p.Rules, dataset, model)
	}
	only, err := c.Settings.With(train.Default(model))
	if err == nil {
		err = only.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("the settings chosen for %s on %s: %w", model, dataset, err)
	}
	return []train.Config{only}, nil
}

// chosen is what an earlier search has come to for a model on a dataset.
func (p Profile) chosen(dataset, model string) (Choice, bool) {
	for _, c := range p.Chosen {
		if c.Dataset == dataset && c.Model == model {
			return c, true
		}
	}
	return Choice{}, false
}

// Candidates are the settings that rules make for a model on a dataset; later rules refine earlier ones.
func Candidates(rules []Rule, dataset, model string) ([]train.Config, error) {
	g := grid{lists: map[string]list{}}
	for _, r := range rules {
		if r.fits(dataset, model) {
			g.refine(r, train.Default(model))
		}
	}
	out, err := g.candidates(train.Default(model))
	if err != nil {
		return nil, fmt.Errorf("candidates for %s on %s: %w", model, dataset, err)
	}
	return out, nil
}

// fits tells whether the rule is about a model on a dataset.
func (r Rule) fits(dataset, model string) bool {
	in := func(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	return in(r.Datasets, dataset) && in(r.Models, model)
}
