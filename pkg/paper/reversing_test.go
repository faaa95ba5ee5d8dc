package paper

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/runs"
)

// TestReversing: the network "as both, but all forward" has the settings chosen for "both". It has as many layers, and
// all of them are forward layers. It is trained only with the chosen settings.
func TestReversing(t *testing.T) {
	p := Quick()
	if err := json.Unmarshal([]byte(`{"datasets": ["cora"], "splits": [0, 1, 2], "tried": 1, "note": "",
		"candidates": [{"settings": {"hidden": 8, "epochs": 10, "patience": 5}}],
		"blocks": [{"title": "GCN", "ways": [
			{"model": "gcn", "candidates": [{"settings": {"lr": 0.02}, "depths": [{"forward": 2}]}]},
			{"model": "gcn+rep", "candidates": [{"settings": {"lr": 0.02}, "depths": [{"forward": 0, "reverse": 2}]}]},
			{"model": "gcn+rep", "candidates": [{"settings": {"lr": [0.01, 0.03], "lipschitz": 0.5},
				"depths": [{"forward": 1, "reverse": 4}]}]}]}]}`), &p.Reversing); err != nil {
		t.Fatal(err)
	}
	if err := impossible(p); err != nil {
		t.Fatal(err)
	}
	items, err := Choose([]string{"reversing"})
	if err != nil {
		t.Fatal(err)
	}
	s := runs.Scope{Profile: p.Profile}
	records := allRuns(t, s, p, items)
	v := runs.NewView(s, records)
	Work(p, items)(v)
	var all []string
	for _, step := range v.Steps() {
		if c := step.Config; c.Model == "gcn+rep" && c.Reverse == 0 {
			all = append(all, fmt.Sprint(c.Forward, c.LearningRate, c.Lipschitz))
		}
	}
	if got := strings.Join(all, ", "); got != "5 0.03 0.5, 5 0.03 0.5, 5 0.03 0.5" {
		t.Errorf("the networks with all layers forward are %s", got)
	}
	if text := table(t, s, p, records, "reversing"); !strings.Contains(text, "(5/0), 3 splits") ||
		!strings.Contains(text, "(1/4), 3 splits") {
		t.Errorf("the table lacks a network:\n%s", text)
	}
	// Before any run, the plan has the networks with all layers forward as well: with the settings of the candidate of
	// "both" that takes the most work.
	v = runs.NewView(s, nil)
	Work(p, items)(v)
	provisional := 0
	for _, step := range v.Steps() {
		if c := step.Config; step.Provisional && c.Forward == 5 && c.Reverse == 0 {
			provisional++
		}
	}
	if provisional != 3 {
		t.Errorf("the plan has %d networks with all layers forward, want 3, one for each split", provisional)
	}
	if text := table(t, s, p, nil, "reversing"); strings.Count(text, "–<sup>a</sup>") != 4 {
		t.Errorf("without records:\n%s", text)
	}
}
