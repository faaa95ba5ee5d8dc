package models

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Settings are the settings that the model has. They point into a copy: to change one, use [Config.Set].
func (c Config) Settings() []Setting {
	list, _ := c.bound()
	return list
}

// bound are the same, but point into c, apart from the own settings, which keep stores in c.
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

// Set parses the value of a setting. A setting that the model lacks is an error, unless the value is [Setting.Absent].
func (c *Config) Set(name, text string) error {
	return c.change(name, func(s Setting) error { return s.Parse(text) })
}

// Decode is Set for a value in JSON, whose key is the setting's name with "_".
func (c *Config) Decode(key string, raw json.RawMessage) error {
	return c.change(SettingOf(key), func(s Setting) error { return s.Decode(raw) })
}

// SettingOf is the setting of a key in JSON.
func SettingOf(key string) string { return strings.ReplaceAll(key, "_", "-") }

// Known tells whether any model has a setting with this key.
func Known(key string) bool {
	for _, k := range registry {
		if k.knows(SettingOf(key)) {
			return true
		}
	}
	return false
}

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

func indexOf(list []Setting, name string) int {
	return slices.IndexFunc(list, func(s Setting) bool { return s.Name == name })
}

// absent tells whether a change gives the shared setting its value without effect.
func absent(name string, to func(Setting) error) bool {
	var other Config
	for _, s := range other.shared() {
		if s.Name == name && s.Absent != nil {
			return to(s) == nil && s.Current() == s.Absent
		}
	}
	return false
}

// refuse is the error for a setting that the model lacks; it lists those that there are.
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

func (k Kind) knows(name string) bool {
	return Config{Model: k.Name, Own: k.Own}.Value(name) != nil
}

// Value is the value of a setting, or nil if the model lacks it.
func (c Config) Value(name string) any {
	for _, s := range c.Settings() {
		if s.Name == name {
			return s.Current()
		}
	}
	return nil
}

// Values has the model's name under "model" and the values of all settings by their keys.
func (c Config) Values() map[string]any {
	out := map[string]any{"model": c.Model}
	for _, s := range c.Settings() {
		out[s.Key()] = s.Current()
	}
	return out
}

func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.Values()) }

// UnmarshalJSON is [Config.Read] of what MarshalJSON wrote.
func (c *Config) UnmarshalJSON(b []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(b, &values); err != nil {
		return err
	}
	return c.Read(values)
}

// Read sets c from "model" and the settings by their keys. Missing settings get the model's defaults; without a model,
// c is zero. Settings that only other models have are ignored, since old records have them; unknown ones are an error.
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
