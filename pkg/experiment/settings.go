package experiment

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Settings are some of a configuration's settings, by their names in JSON, as files of experiments have them.
type Settings map[string]json.RawMessage

// With changes a configuration; a setting that its model does not have is an error.
func (s Settings) With(c train.Config) (train.Config, error) {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if err := c.Decode(key, s[key]); err != nil {
			return c, err
		}
	}
	return c, nil
}

// within are the settings that a configuration's model has.
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

// Model is a configuration in the form of files of experiments: the model's name together with the settings that
// differ from its defaults.
type Model struct{ train.Config }

// UnmarshalJSON refuses every setting that the model does not have; that of [train.Config] ignores them.
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
