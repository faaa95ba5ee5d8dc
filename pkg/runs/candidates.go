package runs

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/revgnn/revgnn/pkg/train"
)

// Rule says which values settings may take, for some models on some datasets. A rule that names no models applies to
// all models; a model then ignores the settings that it does not have. If a rule names models, each of them must have
// all settings of the rule. Otherwise [Candidates] returns an error.
type Rule struct {
	Note string `json:"note,omitempty"`
	// Datasets and Models are the names of the datasets and models that the rule applies to. If Datasets is empty, the
	// rule applies to all datasets. If Models is empty, it applies to all models.
	Datasets []string `json:"datasets,omitempty"`
	Models   []string `json:"models,omitempty"`
	// Settings has an entry for each setting that the rule is about. The key is the setting's name, such as lr for the
	// learning rate. The entry is one value of the setting, or a list of values to choose from.
	Settings map[string]list `json:"settings,omitempty"`
	// Depths are combinations of settings, for example 64 reverse layers together with a bound of 0.8 on the weights.
	// Each candidate has all settings of one combination. If several rules have Depths, only the last of these rules
	// gives the combinations. If a setting is both in a combination and in Settings, its value in the combination
	// counts.
	Depths []Settings `json:"depths,omitempty"`
}

// Check returns an error if the rule has a setting that no model has.
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

// UnmarshalJSON implements json.Unmarshaler.
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

// grid has what several rules say together: the values of each setting (lists), and the combinations of settings
// (depths, see [Rule.Depths]). The method refine adds a rule. The method candidates makes the candidates.
type grid struct {
	lists  map[string]list
	depths []Settings
	any    bool // tells whether any rule was added
}

// refine adds a rule to the grid. The values of this rule replace the values that earlier rules have for the same
// settings. The configuration c is any configuration of the model: it only tells which settings the model has.
func (g *grid) refine(r Rule, c train.Config) {
	g.any = true
	own := func(s Settings) Settings {
		if len(r.Models) > 0 {
			return s // settings that the model lacks are kept, and give an error later
		}
		return s.within(c)
	}
	first := Settings{}
	for key, values := range r.Settings {
		first[key] = values[0]
	}
	for key := range own(first) {
		g.lists[key] = r.Settings[key]
	}
	if r.Depths != nil {
		g.depths = nil
		for _, d := range r.Depths {
			g.depths = append(g.depths, own(d))
		}
	}
}

// candidates puts the values of the grid into the configuration c, in every possible combination, and returns the
// resulting configurations. The configurations with the first combination in depths come first. Equal configurations
// are listed once.
func (g grid) candidates(c train.Config) ([]train.Config, error) {
	if !g.any {
		return nil, nil
	}
	choices := []Settings{{}}
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(g.lists))) {
		var more []Settings
		for _, s := range choices {
			for _, value := range g.lists[key] {
				with := maps.Clone(s)
				with[key] = value
				more = append(more, with)
			}
		}
		choices = more
	}
	depths := g.depths
	if len(depths) == 0 {
		depths = []Settings{{}}
	}
	var out []train.Config
	for _, depth := range depths {
		for _, s := range choices {
			one := maps.Clone(s)
			maps.Copy(one, depth)
			with, err := one.With(c)
			if err == nil {
				err = with.Validate()
			}
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(out, func(c train.Config) bool { return reflect.DeepEqual(c, with) }) {
				out = append(out, with)
			}
		}
	}
	return out, nil
}
