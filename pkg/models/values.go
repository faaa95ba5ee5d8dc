package models

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Settings lists the settings that the configuration's model has. They point into a copy of the configuration, so that
// changing them does not change c. To change a setting, use [Config.Set].
func (c Config) Settings() []Setting {
	list, _ := c.bound()
	return list
}

// bound lists the model's settings. For a shared setting, Setting.Value points to a field of c. For one of the model's
// own settings, Setting.Value points into a copy of c.Own. After a change, call keep, which stores this copy in c.
func (c *Config) bound() (list []Setting, keep func()) {
	k := registry[c.Model]
	for _, s := range c.shared() {
		if k.Has(s.Name) {
			list = append(list, s)
		}
	}
	if c.Own == nil {
		return list, func() {}
	}
	own := addressable(c.Own)
	return append(list, SettingsOf(own)...), func() { c.Own = own.Interface() }
}

// Set reads a value from text, and gives it to the setting with the given name. The name and the text are as on the
// command line. If the model does not have the setting, Set returns an error, unless the value is [Setting.Absent],
// such as 0 for the number of reverse layers.
func (c *Config) Set(name, text string) error {
	return c.change(name, func(s Setting) error { return s.Parse(text) })
}

// Decode gives a value from JSON to a setting. The argument key is the name of the setting in JSON. If the model does
// not have the setting, Decode does the same as [Config.Set].
func (c *Config) Decode(key string, raw json.RawMessage) error {
	return c.change(SettingOf(key), func(s Setting) error { return s.Decode(raw) })
}

// SettingOf turns the name that a setting has in JSON, such as "max_iterations", into the setting's name,
// "max-iterations".
func SettingOf(key string) string { return strings.ReplaceAll(key, "_", "-") }

// Known tells whether any model has a setting with the given name in JSON.
func Known(key string) bool {
	for _, k := range registry {
		if k.knows(SettingOf(key)) {
			return true
		}
	}
	return false
}

// change finds the setting with the given name, and changes it by the function that is the second argument. If the
// model does not have the setting, change returns an error, unless the new value is the one with which the setting has
// no effect ([Setting.Absent]).
func (c *Config) change(name string, to func(Setting) error) error {
	list, keep := c.bound()
	i := indexOf(list, name)
	if i < 0 {
		if absent(name, to) {
			return nil
		}
		return c.refuse(name)
	}
	defer keep()
	return to(list[i])
}

// indexOf returns the index of the setting with the given name, or -1 if the list does not have it.
func indexOf(list []Setting, name string) int {
	return slices.IndexFunc(list, func(s Setting) bool { return s.Name == name })
}

// absent tells whether a change would give the shared setting of the given name the value with which the setting has no
// effect ([Setting.Absent]). The second argument is the function that makes the change.
func absent(name string, to func(Setting) error) bool {
	var other Config
	for _, s := range other.shared() {
		if s.Name == name && s.Absent != nil {
			return to(s) == nil && s.Current() == s.Absent
		}
	}
	return false
}

// refuse returns an error for a setting that the model does not have. The error lists the settings that the model has.
func (c Config) refuse(name string) error {
	k, err := Lookup(c.Model)
	if err != nil {
		return err
	}
	var has []string
	for _, s := range c.Settings() {
		has = append(has, s.Name)
	}
	hint := ""
	if with, ok := k.WithReverse(); ok && with.knows(name) {
		hint = fmt.Sprintf("choose %s, or ", with.Name)
	}
	return fmt.Errorf("model %s has no setting %q: %sleave it out (it has %s)",
		c.Model, name, hint, strings.Join(has, ", "))
}

// knows tells whether the model has a setting with the given name, either a shared setting or one of its own.
func (k Kind) knows(name string) bool {
	return Config{Model: k.Name, Own: k.Own}.Value(name) != nil
}

// Value returns the value of the setting with the given name, such as "max-iterations". It returns nil if the model
// does not have the setting.
func (c Config) Value(name string) any {
	for _, s := range c.Settings() {
		if s.Name == name {
			return s.Current()
		}
	}
	return nil
}

// Values returns the model's name, under the key "model", and the values of all its settings. The key of a value is the
// name of the setting in JSON.
func (c Config) Values() map[string]any {
	out := map[string]any{"model": c.Model}
	for _, s := range c.Settings() {
		out[s.Key()] = s.Current()
	}
	return out
}

// MarshalJSON writes the model's name and its settings.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.Values()) }

// UnmarshalJSON reads a configuration that MarshalJSON has written. Missing settings get the model's defaults. See
// [Config.Read].
func (c *Config) UnmarshalJSON(b []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(b, &values); err != nil {
		return err
	}
	return c.Read(values)
}

// Read sets c to the configuration that values describe. A key is "model" or the name of a setting in JSON. Missing
// settings get the model's defaults. If the name of the model is missing, c becomes the zero configuration. Settings
// that only other models have are ignored, since run records of earlier versions contain settings of other models. A
// setting that no model has is an error.
func (c *Config) Read(values map[string]json.RawMessage) error {
	var name string
	if raw, ok := values["model"]; ok {
		if err := json.Unmarshal(raw, &name); err != nil {
			return fmt.Errorf("model is %s: it must be a text", raw)
		}
	}
	if *c = Default(name); name == "" {
		return nil
	}
	if _, err := Lookup(name); err != nil {
		return err
	}
	list, keep := c.bound()
	defer keep()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch i := indexOf(list, SettingOf(key)); {
		case i >= 0:
			if err := list[i].Decode(values[key]); err != nil {
				return err
			}
		case key != "model" && !Known(key):
			return c.refuse(SettingOf(key))
		}
	}
	return nil
}
