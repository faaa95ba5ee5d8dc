package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Space says which settings are searched, and in which ranges: a JSON file, such as those in data/spaces.
type Space struct {
	Schema string `json:"$schema,omitempty"`
	Name   string `json:"name"`
	// About says where the ranges come from.
	About string `json:"about"`
	// Of several rules about a setting of a model, the last one counts.
	Rules []Rule `json:"rules"`
}

// Rule gives ranges to the settings of models. A rule that names no models applies to all, which ignore the settings
// that they do not have; models that it names must have them all.
type Rule struct {
	Note     string           `json:"note,omitempty"`
	Models   []string         `json:"models,omitempty"`
	Settings map[string]Range `json:"settings"`
}

const maxSpace = 1 << 20

// OpenSpace returns a space that comes with revgnn (in data/spaces), by its name, or reads a file.
func OpenSpace(nameOrFile string) (*Space, error) {
	if slices.Contains(data.SpaceNames(), nameOrFile) {
		text, err := data.Space(nameOrFile)
		if err != nil {
			return nil, err
		}
		return ParseSpace(text)
	}
	text, err := files.Read(nameOrFile, "a space of settings as JSON", maxSpace)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsRune(nameOrFile, os.PathSeparator) {
		return nil, fmt.Errorf("there is no space %q: give %s, or a file", nameOrFile,
			strings.Join(data.SpaceNames(), " or "))
	}
	if err != nil {
		return nil, err
	}
	s, err := ParseSpace(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", nameOrFile, err)
	}
	return s, nil
}

// ParseSpace reads a space from JSON. It returns an error for an unknown setting or model, for a range that is empty or
// has values that the setting cannot have, and for conditions on settings with conditions.
func ParseSpace(text []byte) (*Space, error) {
	var s Space
	if err := files.Strict(text, &s); err != nil {
		return nil, fmt.Errorf("the space cannot be read: %w", err)
	}
	if s.Name == "" || len(s.Rules) == 0 {
		return nil, fmt.Errorf("the space needs a name and rules")
	}
	for i, r := range s.Rules {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("the space %s, rule %d: %w", s.Name, i+1, err)
		}
	}
	for _, model := range models.Names() {
		if err := s.checkConditions(model); err != nil {
			return nil, fmt.Errorf("the space %s, for %s: %w", s.Name, model, err)
		}
	}
	return &s, nil
}

// checkConditions returns an error if a condition names a setting that has one itself: these are drawn in no special
// order, so that it might not have its value yet.
func (s *Space) checkConditions(model string) error {
	drawn := s.Of(model)
	for _, d := range drawn {
		for _, other := range drawn {
			if _, named := d.When[other.Key]; named && len(other.When) > 0 {
				return fmt.Errorf("the condition of %s names %s, which has a condition itself: give %s no condition, or "+
					"name another setting", d.Key, other.Key, other.Key)
			}
		}
	}
	return nil
}

// ordered lists the settings that all trials of a search share.
var ordered = []string{"epochs", "patience", "seed"}

func (r Rule) check() error {
	for _, model := range r.Models {
		if _, err := models.Lookup(model); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Settings)) {
		if slices.Contains(ordered, key) {
			return fmt.Errorf("%s is no setting to search: give it on the command line, as --%s", key, key)
		}
		if err := r.Settings[key].check(); err != nil {
			return fmt.Errorf("setting %s: %w", key, err)
		}
		if err := (runs.Settings{key: nil}).Check(); err != nil {
			return err
		}
		if err := r.fits(key); err != nil {
			return err
		}
	}
	return nil
}

// fits returns an error if a setting of a model cannot have the corners of its range, or the values in its conditions.
func (r Rule) fits(key string) error {
	named := r.Models
	if len(named) == 0 {
		named = models.Names()
	}
	for _, model := range named {
		c := train.Default(model)
		if len(r.Models) == 0 && c.Value(models.SettingOf(key)) == nil {
			continue
		}
		for _, value := range r.Settings[key].corners() {
			if err := possible(c, key, value); err != nil {
				return fmt.Errorf("%s: %w", model, err)
			}
		}
		for other, values := range r.Settings[key].When {
			for _, value := range values {
				if err := possible(c, other, value); err != nil {
					return fmt.Errorf("%s: the condition of %s: %w", model, key, err)
				}
			}
		}
	}
	return nil
}

// possible returns an error if the setting of c cannot have the value.
func possible(c train.Config, key string, value json.RawMessage) error {
	if err := c.Decode(key, value); err != nil {
		return err
	}
	for _, s := range c.Settings() {
		if s.Key() == key {
			return s.Check()
		}
	}
	return nil
}

type Dimension struct {
	Key string
	Range
}

// Of returns those settings of a model that are searched, without those in fixed, in the order of their names.
func (s *Space) Of(model string, fixed ...string) []Dimension {
	ranges := map[string]Range{}
	has := train.Default(model).Values()
	for _, r := range s.Rules {
		if len(r.Models) > 0 && !slices.Contains(r.Models, model) {
			continue
		}
		for key, one := range r.Settings {
			if has[key] != nil && !slices.Contains(fixed, key) {
				ranges[key] = one
			}
		}
	}
	var out []Dimension
	for _, key := range slices.Sorted(maps.Keys(ranges)) {
		out = append(out, Dimension{key, ranges[key]})
	}
	return out
}
