package runs

import (
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/train"
)

// Profile says on which datasets and splits models are trained, and which settings are tried. It is read from a file:
// see data/settings.
type Profile struct {
	Name string `json:"name"`
	// About describes the profile; every table and figure repeats this text.
	About string `json:"about"`
	// Datasets are the datasets on which models are trained, unless the user names other datasets.
	Datasets []string `json:"datasets"`
	// Splits are the splits that models are trained on. Candidates are compared only on the splits at the beginning of
	// this list. Tried is the number of splits on which they are compared.
	Splits []int `json:"splits"`
	Tried  int   `json:"tried"`
	// Rules give the candidates for a dataset and a model: see [Profile.Candidates].
	Rules []Rule `json:"candidates"`
	// LeftOut says which models are not trained on which datasets. It has no effect if the user names models or
	// datasets.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Each entry of Chosen has settings for one model on one dataset. A search has found these settings (see package
	// search), or they are from elsewhere ([Choice.Source]). The entries for this model on this dataset are the only
	// candidates: the Rules are not used.
	Chosen []Choice `json:"chosen,omitempty"`
	// Repeated says which models are trained more than once on each split of which datasets.
	Repeated []Repeated `json:"repeated,omitempty"`
}

// Repeated says that the named models, with the settings chosen for them, are trained Seeds times on each split of the
// named datasets. If Datasets or Models is empty, it stands for all, as in a [Rule]. These trainings have different
// seeds. Candidates are compared by the trainings with the first seed.
type Repeated struct {
	Datasets []string `json:"datasets,omitempty"`
	Models   []string `json:"models,omitempty"`
	Seeds    int      `json:"seeds"`
}

// seeds returns the number of trainings on each split of a dataset with the settings that are chosen for a model: that
// of the first entry of Repeated which names them, or else 1. An entry of the field Chosen may have another number
// ([Choice.Seeds]).
func (p Profile) seeds(dataset, model string) int {
	for _, r := range p.Repeated {
		if covers(r.Datasets, dataset) && covers(r.Models, model) {
			return max(1, r.Seeds)
		}
	}
	return 1
}

// LeftOut names models that are not trained on the named datasets, although the profile has settings for these models.
// Why is the reason.
type LeftOut struct {
	Why      string   `json:"why"`
	Datasets []string `json:"datasets"`
	Models   []string `json:"models"`
}

// leftOut returns the reason why a model is not trained on a dataset. The text is empty if the model is trained on it.
func (p Profile) leftOut(dataset, model string) string {
	for _, l := range p.LeftOut {
		if slices.Contains(l.Datasets, dataset) && slices.Contains(l.Models, model) {
			return l.Why
		}
	}
	return ""
}

// Choice holds the settings chosen for a model on a dataset. All other settings have the model's defaults.
type Choice struct {
	Note     string   `json:"note,omitempty"`
	Dataset  string   `json:"dataset"`
	Model    string   `json:"model"`
	Settings Settings `json:"settings"`
	// Search is the ID of the search that found the settings (see package search). The records of this search have this
	// ID in the field Profile, where other records have the name of a profile.
	Search string `json:"search,omitempty"`
	// Source says where settings are from that no search has found, such as "the README of the authors' code".
	Source string `json:"source,omitempty"`
	// Splits are the splits on which the model is trained. If Splits is left out, the splits of the profile are
	// used.
	Splits []int `json:"splits,omitempty"`
	// Seeds is the number of trainings on each split. These trainings have different seeds. If Seeds is left out, the
	// number is that of [Profile.Repeated].
	Seeds int `json:"seeds,omitempty"`
}

// Candidates returns the configurations that are tried for a model on a dataset. If the field Chosen has settings for
// this model on this dataset, these are the candidates. Otherwise the function [Candidates] makes them from the rules.
// The list is empty if the profile has no settings for the model.
func (p Profile) Candidates(dataset, model string) (all []train.Config, err error) {
	chosen := p.chosen(dataset, model)
	if len(chosen) == 0 {
		return Candidates(p.Rules, dataset, model)
	}
	first := chosen[0].Splits
	for _, c := range chosen {
		one, err := c.Settings.With(train.Default(model))
		if err == nil {
			err = one.Validate()
		}
		if err == nil && !slices.Equal(c.Splits, first) {
			err = fmt.Errorf("there are several, on splits %v and on splits %v: give them the same splits", first, c.Splits)
		}
		if err != nil {
			return nil, fmt.Errorf("the settings chosen for %s on %s: %w", model, dataset, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// HasChosen tells whether the field Chosen has settings for a model on a dataset.
func (p Profile) HasChosen(dataset, model string) bool { return len(p.chosen(dataset, model)) > 0 }

// chosen returns the entries of Chosen for a model on a dataset. An entry without its own splits or number of seeds gets
// those of the profile.
func (p Profile) chosen(dataset, model string) (all []Choice) {
	for _, c := range p.Chosen {
		if c.Dataset == dataset && c.Model == model {
			if c.Seeds == 0 {
				c.Seeds = p.seeds(dataset, model)
			}
			if len(c.Splits) == 0 {
				c.Splits = p.Splits
			}
			all = append(all, c)
		}
	}
	return all
}

// Candidates returns the configurations that the given rules allow for a model on a dataset. There is one configuration
// for each combination of the values in the rules. If several rules have values for the same setting, only the values
// in the last of these rules are used.
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

// fits tells whether the rule applies to a model on a dataset.
func (r Rule) fits(dataset, model string) bool {
	return covers(r.Datasets, dataset) && covers(r.Models, model)
}

// covers tells whether a list of names has a name. An empty list stands for all names.
func covers(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }
