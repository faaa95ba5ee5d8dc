package runs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

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

// within returns s without the settings that the model of c does not have.
func (s Settings) within(c train.Config) Settings {
	has, out := c.Values(), Settings{}
	for key, value := range s {
		if has[key] != nil {
			out[key] = value
		}
	}
	return out
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
