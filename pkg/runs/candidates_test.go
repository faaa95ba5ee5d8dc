package runs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/train"
)

func profile(t *testing.T, text string) (p Profile) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCandidates(t *testing.T) {
	p := profile(t, `{"candidates": [
		{"settings": {"hidden": 8, "lr": [0.01, 0.02], "max_iterations": 5},
			"depths": [{"forward": 2, "reverse": 3}, {"forward": 2, "reverse": 4}]},
		{"models": ["gcn"], "settings": {"dropout": [0, 0.5]}},
		{"datasets": ["cora"], "settings": {"lr": 0.03}},
		{"datasets": ["cora"], "models": ["gcn+rep"], "depths": [{"forward": 1, "reverse": 64, "lipschitz": 0.8}]}
	], "chosen": [{"dataset": "photo", "model": "gat", "settings": {"hidden": 4, "lr": 0.5}}]}`)
	show := func(dataset, model string) string {
		t.Helper()
		all, err := p.Candidates(dataset, model)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range all {
			out = append(out, fmt.Sprint(c.Depth(), " ", c.Hidden, " ", c.LearningRate, " ", c.Dropout, " ",
				c.Lipschitz, " ", c.MaxIterations))
		}
		return strings.Join(out, "; ")
	}
	for _, c := range []struct{ dataset, model, want string }{
		// Each text lists the expected candidates, as the function show writes them. A model ignores settings that it
		// lacks. Candidates that would differ only in such settings are listed once.
		{"photo", "gcn", "2 8 0.01 0 0 0; 2 8 0.01 0.5 0 0; 2 8 0.02 0 0 0; 2 8 0.02 0.5 0 0"},
		{"photo", "gcn+rep", "2/3 8 0.01 0 0.999 5; 2/3 8 0.02 0 0.999 5; 2/4 8 0.01 0 0.999 5; 2/4 8 0.02 0 0.999 5"},
		{"cora", "gcn", "2 8 0.03 0 0 0; 2 8 0.03 0.5 0 0"},
		{"cora", "gcn+rep", "1/64 8 0.03 0 0.8 5"},
		{"photo", "gat", "8 4 0.5 0 0 0"},
		{"photo", "grand", "3 8 0.01 0 0 0; 3 8 0.02 0 0 0"},
	} {
		if got := show(c.dataset, c.model); got != c.want {
			t.Errorf("%s on %s: got %s, want %s", c.model, c.dataset, got, c.want)
		}
	}
}

func TestImpossibleCandidates(t *testing.T) {
	for text, want := range map[string]string{
		`{"candidates": [{"models": ["gcn"], "settings": {"lipschitz": 0.5}}]}`:              "lipschitz",
		`{"candidates": [{"models": ["gcn"], "depths": [{"reverse": 5}]}]}`:                  "reverse",
		`{"candidates": [{"settings": {"hidden": 0}}]}`:                                      "hidden",
		`{"candidates": [{"settings": {"lr": "slow"}}]}`:                                     "lr",
		`{"chosen": [{"dataset": "cora", "model": "gcn", "settings": {"dropout": 7}}]}`:      "dropout",
		`{"chosen": [{"dataset": "cora", "model": "gcn", "settings": {"weight-dekay": 7}}]}`: "weight-dekay",
	} {
		if _, err := profile(t, text).Candidates("cora", "gcn"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if got, err := profile(t, `{"candidates": [{"models": ["gat"], "settings": {"hidden": 4}}]}`).Candidates("cora",
		"gcn"); err != nil || got != nil {
		t.Errorf("a model that no rule is about has %v, %v", got, err)
	}
	var m Model
	for _, text := range []string{`{"hidden": 4}`, `{"model": "gnn"}`, `{"model": "gcn", "reverse": 4}`,
		`{"model": "gcn", "hidden": 0}`} {
		if err := json.Unmarshal([]byte(text), &m); err == nil {
			t.Errorf("the model %s was accepted", text)
		}
	}
	if err := json.Unmarshal([]byte(`{"model": "gcn", "hidden": 4}`), &m); err != nil || m.Hidden != 4 ||
		m.LearningRate != train.Default("gcn").LearningRate {
		t.Errorf("got %+v, %v", m, err)
	}
}
