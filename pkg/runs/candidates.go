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
// all, which ignore the settings that they do not have; models that it names must have them all.
type Rule struct {
	Note string `json:"note,omitempty"`
	// An empty list stands for all datasets or models.
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

// grid has what several rules say together.
type grid struct {
	lists  map[string]list
	depths []Settings
	any    bool // tells whether any rule was added
}

// refine adds a rule, whose values replace those of earlier rules. The configuration c only tells which settings the
// model has.
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

// candidates returns c with every combination of the values, in the order of the depths, and without repetitions.
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
