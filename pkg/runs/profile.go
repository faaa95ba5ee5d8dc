package runs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Profile says on which datasets and splits models are trained, and which settings are tried: see data/settings.
type Profile struct {
	Name     string   `json:"name"`
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
	candidates, _, err := p.candidates(dataset, model)
	for _, c := range candidates {
		all = append(all, c.Config)
	}
	return all, err
}

// candidates are [Profile.Candidates] with the splits to train the best one on.
func (p Profile) candidates(dataset, model string) (all []candidate, splits []int, err error) {
	for _, c := range p.Chosen {
		if c.Dataset != dataset || c.Model != model {
			continue
		}
		on := c.Splits
		if len(on) == 0 {
			on = p.Splits
		}
		config, err := c.Settings.With(train.Default(model))
		if err == nil {
			err = config.Validate()
		}
		if err == nil && all != nil && !slices.Equal(on, splits) {
			err = fmt.Errorf("there are several, on splits %v and on splits %v: give them the same splits", splits, on)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the settings chosen for %s on %s: %w", model, dataset, err)
		}
		all = append(all, candidate{config, cmp.Or(c.Seeds, p.seeds(dataset, model)), c.Search, c.Source})
		splits = on
	}
	if all != nil {
		return all, splits, nil
	}
	ruled, err := Candidates(p.Rules, dataset, model)
	return plainly(ruled, p.seeds(dataset, model)), p.Splits, err
}

func (p Profile) HasChosen(dataset, model string) bool {
	return slices.ContainsFunc(p.Chosen, func(c Choice) bool { return c.Dataset == dataset && c.Model == model })
}

// Candidates returns every combination of the values that the rules allow for a model on a dataset, in the order of the
// depths and without repetitions. Of several rules about a setting, the last one counts.
func Candidates(rules []Rule, dataset, model string) (out []train.Config, err error) {
	c, some := train.Default(model), false
	lists, depths := map[string]list{}, []Settings(nil)
	for _, r := range rules {
		if !covers(r.Datasets, dataset) || !covers(r.Models, model) {
			continue
		}
		some = true
		// If the rule names the model, settings that it lacks are kept, and give an error later.
		keeps := func(key string) bool { return len(r.Models) > 0 || c.Value(models.SettingOf(key)) != nil }
		for key, values := range r.Settings {
			if keeps(key) {
				lists[key] = values
			}
		}
		if r.Depths != nil {
			depths = nil
		}
		for _, d := range r.Depths {
			d = maps.Clone(d)
			maps.DeleteFunc(d, func(key string, _ json.RawMessage) bool { return !keeps(key) })
			depths = append(depths, d)
		}
	}
	if !some {
		return nil, nil
	}
	choices := []Settings{{}}
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(lists))) {
		var more []Settings
		for _, s := range choices {
			for _, value := range lists[key] {
				with := maps.Clone(s)
				with[key] = value
				more = append(more, with)
			}
		}
		choices = more
	}
	if len(depths) == 0 {
		depths = []Settings{nil}
	}
	for _, depth := range depths {
		for _, s := range choices {
			one := maps.Clone(s)
			maps.Copy(one, depth)
			with, err := one.With(c)
			if err == nil {
				err = with.Validate()
			}
			if err != nil {
				return nil, fmt.Errorf("candidates for %s on %s: %w", model, dataset, err)
			}
			if !slices.ContainsFunc(out, func(c train.Config) bool { return reflect.DeepEqual(c, with) }) {
				out = append(out, with)
			}
		}
	}
	return out, nil
}

func covers(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }

// Rule says which values settings may take, for some models on some datasets. A rule that names no models applies to
// all, which ignore the settings that they do not have; models that it names must have them all.
type Rule struct {
	Note     string   `json:"note,omitempty"`
	Datasets []string `json:"datasets,omitempty"`
	Models   []string `json:"models,omitempty"`
	// One value or a list of values to choose from, by the name of the setting.
	Settings map[string]list `json:"settings,omitempty"`
	// Depths are combinations of settings, such as 64 reverse layers together with a bound of 0.8 on the weights. The
	// last rule that has some counts; their values count before those in Settings.
	Depths []Settings `json:"depths,omitempty"`
}

func (r Rule) Check() error {
	all := Settings{}
	for key, values := range r.Settings {
		all[key] = values[0]
	}
	for _, s := range append([]Settings{all}, r.Depths...) {
		if err := s.Check(); err != nil {
			return err
		}
	}
	return nil
}

// list holds the values that a setting may take. In JSON it is one value, or an array of values.
type list []json.RawMessage

func (l *list) UnmarshalJSON(b []byte) error {
	var several []json.RawMessage
	if b[0] != '[' {
		several = []json.RawMessage{slices.Clone(b)}
	} else if err := json.Unmarshal(b, &several); err != nil {
		return err
	}
	if *l = several; len(several) == 0 {
		return fmt.Errorf("an empty list leaves no value to choose")
	}
	return nil
}

// Settings has values for some settings of a configuration, by their names in JSON, such as "max_iterations".
type Settings map[string]json.RawMessage

// With returns c with the settings in s, and an error if its model lacks one of them.
func (s Settings) With(c train.Config) (train.Config, error) {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if err := c.Decode(key, s[key]); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Check returns an error if s has a setting that no model has.
func (s Settings) Check() error {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if (train.Config{}).Value(models.SettingOf(key)) == nil && !models.Known(key) {
			return fmt.Errorf("no model has a setting %q", key)
		}
	}
	return nil
}

// Model is a configuration in a JSON file: the name of the model, and the settings that differ from its defaults.
type Model struct{ train.Config }

// UnmarshalJSON returns an error for a setting of another model, which that of [train.Config] accepts.
func (m *Model) UnmarshalJSON(b []byte) error {
	var s Settings
	var name string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if err := json.Unmarshal(s["model"], &name); err != nil {
		return fmt.Errorf("%s does not name a model", b)
	}
	delete(s, "model")
	c, err := s.With(train.Default(name))
	if err != nil {
		return err
	}
	m.Config = c
	return c.Validate()
}
