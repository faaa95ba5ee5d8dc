package data

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// settingsSchema returns the JSON schema of profiles, in a form that can check JSON values.
func settingsSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	return resolved(t, Settings)
}

// resolved returns the JSON schema of a folder, in a form that can check JSON values.
func resolved(t *testing.T, document func(name string) ([]byte, error)) *jsonschema.Resolved {
	t.Helper()
	text, err := document("schema")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	ready, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return ready
}

func TestSettingsKeepToTheSchema(t *testing.T) {
	check := settingsSchema(t)
	names := SettingsNames()
	if len(names) < 2 {
		t.Fatalf("the settings are %q", names)
	}
	for _, name := range names {
		text, err := Settings(name)
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := check.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if v["name"] != name {
			t.Errorf("%s.json is named %v", name, v["name"])
		}
	}
	if _, err := Settings("slow"); err == nil || !strings.Contains(err.Error(), names[0]) {
		t.Errorf("unknown settings: %v", err)
	}
}

func TestSchemaRefuses(t *testing.T) {
	check := settingsSchema(t)
	for what, change := range map[string]func(v map[string]any){
		"a name missing":  func(v map[string]any) { delete(v, "about") },
		"an unknown name": func(v map[string]any) { v["datasetz"] = []any{} },
		"a split below 0": func(v map[string]any) { v["splits"] = []any{-1.0} },
		"a flag's name": func(v map[string]any) {
			v["candidates"] = []any{map[string]any{"settings": map[string]any{"weight-decay": 0.0}}}
		},
		"an empty choice": func(v map[string]any) {
			v["candidates"] = []any{map[string]any{"settings": map[string]any{"lr": []any{}}}}
		},
		"a nameless model": func(v map[string]any) {
			v["smoothness"].(map[string]any)["models"] = []any{map[string]any{"hidden": 8.0}}
		},
		"a list as a choice": func(v map[string]any) { v["chosen"] = []any{map[string]any{"settings": []any{}}} },
	} {
		text, err := Settings(SettingsNames()[0])
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		change(v)
		if err := check.Validate(v); err == nil {
			t.Errorf("%s was accepted", what)
		}
	}
}
