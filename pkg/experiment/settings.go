package experiment

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Settings has the values of some of a configuration's settings. The keys are the settings' names in JSON, as in the
// files of data/settings.
type Settings map[string]json.RawMessage

// With returns a copy of the configuration c in which the settings s replace those of c. It returns an error if the
// model of c lacks one of the settings s.
func (s Settings) With(c train.Config) (train.Config, error) {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if err := c.Decode(key, s[key]); err != nil {
			return c, err
		}
	}
	return c, nil
}

// within returns those of the settings s that the model of the configuration c has.
func (s Settings) within(c train.Config) Settings {
	has, out := c.Values(), Settings{}
	for key, value := range s {
		if has[key] != nil {
			out[key] = value
		}
	}
	return out
}

// Check returns an error that names the first setting that no model has.
func (s Settings) Check() error {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if (train.Config{}).Value(models.SettingOf(key)) == nil && !models.Known(key) {
			return fmt.Errorf("no model has a setting %q", key)
		}
	}
	return nil
}

// Model is a configuration as it is written in files: the model's name and those settings that differ from its
// defaults.
type Model struct{ train.Config }

// UnmarshalJSON reads the configuration. A setting that the model does not have is an error. (The method UnmarshalJSON
// of [train.Config] ignores settings of other models.)
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
