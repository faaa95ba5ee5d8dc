package runs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Settings has values for some of the settings of a configuration. The keys are the names of the settings in JSON, such
// as "max_iterations".
type Settings map[string]json.RawMessage

// With returns a copy of the configuration c in which the settings in s have the values from s. It returns an error if
// s has a setting that the model of c does not have.
func (s Settings) With(c train.Config) (train.Config, error) {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if err := c.Decode(key, s[key]); err != nil {
			return c, err
		}
	}
	return c, nil
}

// within returns a copy of s without the settings that the model of the configuration c does not have.
func (s Settings) within(c train.Config) Settings {
	has, out := c.Values(), Settings{}
	for key, value := range s {
		if has[key] != nil {
			out[key] = value
		}
	}
	return out
}

// Check returns an error if s has a setting that no model has. The error names the first such setting.
func (s Settings) Check() error {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if (train.Config{}).Value(models.SettingOf(key)) == nil && !models.Known(key) {
			return fmt.Errorf("no model has a setting %q", key)
		}
	}
	return nil
}

// Model is a configuration that is read from a JSON file. The file has the name of the model, and the settings whose
// values differ from the defaults of this model.
type Model struct{ train.Config }

// UnmarshalJSON reads the configuration. It returns an error if b has a setting that the model does not have. (The
// method UnmarshalJSON of [train.Config] returns no error if another model has the setting.)
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
