package data

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestSpacesKeepToTheSchema(t *testing.T) {
	check := resolved(t, Space)
	if !slices.Contains(SpaceNames(), PublishedSpace) {
		t.Fatalf("the spaces are %q", SpaceNames())
	}
	for _, name := range SpaceNames() {
		text, err := Space(name)
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
	}
	if _, err := Space("none"); err == nil || !strings.Contains(err.Error(), PublishedSpace) {
		t.Errorf("an unknown space: %v", err)
	}
	for _, wrong := range []string{
		`{"log": [1]}`, `{"log": [1, 2], "choice": [1]}`, `{"linear": [1, 2], "step": 0}`, `{"choice": []}`, `{}`,
		`{"choice": [1], "when": {}}`, `{"range": [1, 2]}`,
	} {
		var v map[string]any
		text := `{"name": "a", "about": "", "rules": [{"settings": {"lr": ` + wrong + `}}]}`
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if check.Validate(v) == nil {
			t.Errorf("%s was accepted", wrong)
		}
	}
}
