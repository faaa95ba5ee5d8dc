package models

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// The defaults of every model are valid, and are the same after conversion to JSON and back. If several models have a
// setting of the same name, the setting has the same type in all of them.
func TestKinds(t *testing.T) {
	types := map[string]string{}
	for _, k := range Kinds() {
		c := Default(k.Name)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
		if k.Alias != "" && Default(k.Alias).Model != k.Name {
			t.Errorf("%s stands for %q, not %q", k.Alias, Default(k.Alias).Model, k.Name)
		}
		if k.Title == "" || k.Layer == "" || k.Reference == "" || c.Depth() == "" {
			t.Errorf("%s: %+v does not say what users are told", k.Name, k)
		}
		b, err := json.Marshal(c)
		var back Config
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || !reflect.DeepEqual(back, c) {
			t.Errorf("%s: %v became %v: %v", k.Name, c, back, err)
		}
		for _, s := range c.Settings() {
			of := fmt.Sprintf("%T", s.Current())
			if known, ok := types[s.Name]; ok && known != of {
				t.Errorf("%s has the setting %s as a %s, other models as a %s", k.Name, s.Name, of, known)
			}
			types[s.Name] = of
			if s.Help == "" {
				t.Errorf("%s: the setting %s has no help", k.Name, s.Name)
			}
		}
		if k.Plain != "" {
			if with, ok := registry[k.Plain].WithReverse(); !ok || with.Name != k.Name || !c.HasReverse() {
				t.Errorf("%s belongs to %q, whose model with a reverse process is %q", k.Name, k.Plain, with.Name)
			}
		}
		if _, err := Parameters(c, 3, 5); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	if Suggested() == "" {
		t.Error("no model is suggested")
	}
}

// [Config.Set] refuses a setting that the model does not have, and the error names the setting. When a run record is
// read, settings that only other models have are ignored, since older records contain settings of other models.
func TestUselessSettings(t *testing.T) {
	c := Default("gcn")
	for name, hint := range map[string]string{"reverse": "choose gcn+rep", "time": "leave it out",
		"nonsense": "forward"} {
		if err := c.Set(name, "3"); err == nil || !strings.Contains(err.Error(), name) ||
			!strings.Contains(err.Error(), hint) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if c.Set("reverse", "0") != nil || c.Set("heads", "1") != nil || c.Set("heads", "2") == nil {
		t.Error("a GCN has no reverse layers and one head")
	}
	c.Reverse = 4
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "reverse") {
		t.Errorf("got %v", err)
	}
	var old Config
	if err := json.Unmarshal([]byte(`{"model": "gcn", "forward": 3, `+
		`"reverse": 8, "lipschitz": 0.999}`), &old); err != nil || old.Forward != 3 || old.Reverse != 0 {
		t.Errorf("an older record became %v: %v", old, err)
	}
	for _, bad := range []string{`{"model": "gcn", "no_such_setting": 1}`, `{"model": "gcn", "forward": null}`,
		`{"model": "nonsense"}`,
		`{"model": "gcn", "forward": 1.5}`, `{"model": 3}`} {
		if err := json.Unmarshal([]byte(bad), &old); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", bad, err)
		}
	}
	err := json.Unmarshal([]byte(`{"model": "gcn", "forward": 3, "time": 5}`), &old)
	if err != nil || old.Value("time") != nil {
		t.Errorf("a record with another model's setting became %v: %v", old, err)
	}
	var none Config
	if b, err := json.Marshal(none); err != nil || json.Unmarshal(b, &old) != nil || !reflect.DeepEqual(old, none) {
		t.Errorf("the zero configuration became %s, %v, %v", b, old, err)
	}
}

// If a copy of a configuration is changed, the original does not change. [Config.Validate] refuses a configuration that
// holds another model's own settings. It also refuses impossible values of settings.
func TestOwnSettings(t *testing.T) {
	one := Default("grand+rep")
	two := one
	if err := two.Set("time", "7"); err != nil {
		t.Fatal(err)
	}
	if OwnOf[Diffusion](one).Time != 3 || OwnOf[Diffusion](two).Time != 7 || two.Value("time") != 7.0 ||
		one.Value("nonsense") != nil {
		t.Errorf("%v and %v", one, two)
	}
	if err := two.Set("solver", "magic"); err != nil || two.Validate() == nil {
		t.Error("an unknown solver was accepted")
	}
	one.Model = "gat"
	if err := one.Validate(); err == nil || !strings.Contains(err.Error(), "another model") {
		t.Errorf("got %v", err)
	}
	three := two
	if err := three.Set("time", "much"); err == nil || three.Value("time") != 7.0 {
		t.Errorf("a time that is no number was accepted: %v", three)
	}
}

// Register panics if a kind has no network, or if the name or a setting of the kind is not allowed.
func TestRegisterRefuses(t *testing.T) {
	network := registry["gcn"].New
	type shared struct {
		Hidden int `help:"a shared name"`
	}
	type flag struct {
		Out int `help:"a flag's name"`
	}
	type other struct {
		Time int `help:"a name of another type"`
	}
	own := func(settings any) Kind { return Kind{Name: "other", New: network, Own: settings} }
	for what, k := range map[string]Kind{"a taken name": {Name: "gcn", New: network}, "no network": {Name: "other"},
		"an unknown setting": {Name: "other", New: network, Shared: []string{"nonsense"}},
		"a shared name":      own(shared{}), "a flag's name": own(flag{}), "a name of another type": own(other{})} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was registered", what)
				}
			}()
			Register(k)
		}()
	}
}
