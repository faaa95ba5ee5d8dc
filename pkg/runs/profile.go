package runs

import (
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/train"
)

// Profile says on which datasets and splits models are trained, and which settings are tried: see data/settings.
type Profile struct {
	Name string `json:"name"`
	// About is a text that every table and figure repeats.
	About    string   `json:"about"`
	Datasets []string `json:"datasets"`
	// Candidates are compared only on the first splits; Tried is their number.
	Splits []int `json:"splits"`
	Tried  int   `json:"tried"`
	// Rules give the candidates for a dataset and a model: see [Profile.Candidates].
	Rules []Rule `json:"candidates"`
	// LeftOut has no effect if the user names models or datasets.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Chosen has settings from searches or from elsewhere. Where there are some for a model on a dataset, they are its
	// only candidates, and the Rules are not used.
	Chosen   []Choice   `json:"chosen,omitempty"`
	Repeated []Repeated `json:"repeated,omitempty"`
}

// Repeated says that models are trained Seeds times on each split of datasets with the settings chosen for them; an
// empty list stands for all. Candidates are compared by the trainings with the first seed.
type Repeated struct {
	Datasets []string `json:"datasets,omitempty"`
	Models   []string `json:"models,omitempty"`
	Seeds    int      `json:"seeds"`
}

// seeds returns the number of trainings on each split: that of the first entry of Repeated that fits, or 1.
func (p Profile) seeds(dataset, model string) int {
	for _, r := range p.Repeated {
		if covers(r.Datasets, dataset) && covers(r.Models, model) {
			return max(1, r.Seeds)
		}
	}
	return 1
}

// LeftOut names models that are not trained on datasets, although the profile has settings for them.
type LeftOut struct {
	Why      string   `json:"why"`
	Datasets []string `json:"datasets"`
	Models   []string `json:"models"`
}

// leftOut returns the reason why a model is not trained on a dataset, or "".
func (p Profile) leftOut(dataset, model string) string {
	for _, l := range p.LeftOut {
		if slices.Contains(l.Datasets, dataset) && slices.Contains(l.Models, model) {
			return l.Why
		}
	}
	return ""
}

// Choice holds the settings chosen for a model on a dataset; others have the model's defaults.
type Choice struct {
	Note     string   `json:"note,omitempty"`
	Dataset  string   `json:"dataset"`
	Model    string   `json:"model"`
	Settings Settings `json:"settings"`
	// Search is the ID of the search that found the settings. Its records have this ID as Profile.
	Search string `json:"search,omitempty"`
	// Source says where settings are from that no search has found, such as "the README of the authors' code".
	Source string `json:"source,omitempty"`
	// Splits and Seeds, if left out, are those of the profile.
	Splits []int `json:"splits,omitempty"`
	Seeds  int   `json:"seeds,omitempty"`
}

// Candidates returns the configurations that are tried for a model on a dataset: those of Chosen, or else of the rules,
// or none.
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

func (p Profile) HasChosen(dataset, model string) bool { return len(p.chosen(dataset, model)) > 0 }

// chosen returns the entries of Chosen for a model on a dataset, with the splits and seeds of the profile filled in.
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

// Candidates returns every combination of the values that the rules allow for a model on a dataset. Of several rules
// about a setting, the last one counts.
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

func (r Rule) fits(dataset, model string) bool {
	return covers(r.Datasets, dataset) && covers(r.Models, model)
}

// covers tells whether a list of names has a name. An empty list stands for all names.
func covers(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }
