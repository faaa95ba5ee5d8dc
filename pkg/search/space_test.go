package search

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestSpacesOfTheProgram draws 60 samples for each model from each space that comes with revgnn. Every setting that the
// space has for the model must be drawn. If the range of a setting is a list of choices, every choice must be drawn.
func TestSpacesOfTheProgram(t *testing.T) {
	for _, name := range data.SpaceNames() {
		s, err := openSpace(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != name || s.About == "" {
			t.Errorf("%s.json is named %q, about %q", name, s.Name, s.About)
		}
		for _, model := range models.Names() {
			sampler := newSampler(s.Of(model), train.Default(model), 1)
			seen := map[string]map[string]bool{}
			for n := range 60 {
				sample, err := sampler.Trial(n)
				if err != nil {
					t.Fatalf("%s, %s: %v", name, model, err)
				}
				for key, value := range sample.Settings {
					if seen[key] == nil {
						seen[key] = map[string]bool{}
					}
					seen[key][string(value)] = true
				}
			}
			for _, d := range s.Of(model) {
				if len(seen[d.Key]) < len(d.Choice) || len(seen[d.Key]) == 0 {
					t.Errorf("%s, %s: of the choices of %s only %v were drawn", name, model, d.Key, seen[d.Key])
				}
			}
			if len(seen["lr"]) < 30 {
				t.Errorf("%s, %s: learning rates %v", name, model, seen["lr"])
			}
		}
	}
}

// TestSamplesAreTheSameAgain: a sample does not depend on which samples were drawn before. Another seed gives other
// samples.
func TestSamplesAreTheSameAgain(t *testing.T) {
	s, err := openSpace(data.PublishedSpace)
	if err != nil {
		t.Fatal(err)
	}
	model := "grand+rep"
	draw := func(seed uint64, n int) string {
		sample, err := newSampler(s.Of(model), train.Default(model), seed).Trial(n)
		if err != nil {
			t.Fatal(err)
		}
		return Describe(sample.Settings)
	}
	whole := newSampler(s.Of(model), train.Default(model), 5)
	for n := range 200 {
		if sample, err := whole.Trial(n); err != nil || n%67 == 0 && Describe(sample.Settings) != draw(5, n) {
			t.Errorf("trial %d is %s, then %s, %v", n, draw(5, n), Describe(sample.Settings), err)
		}
	}
	if draw(5, 0) == draw(6, 0) {
		t.Error("the seed does not matter")
	}
}

// TestConditions tests two settings of GRAND that are drawn only for some solvers. The setting step is drawn only for
// solvers with a fixed step size. The setting tol_scale is drawn only for dopri5, which chooses its step size itself.
// Besides, settings whose names are given to [Space.Of] are not drawn.
func TestConditions(t *testing.T) {
	s, err := openSpace(data.PublishedSpace)
	if err != nil {
		t.Fatal(err)
	}
	base := train.Default("grand")
	for n := range 30 {
		sample, err := newSampler(s.Of("grand"), base, 1).Trial(n)
		if err != nil {
			t.Fatal(err)
		}
		_, step := sample.Settings["step"]
		_, tolerance := sample.Settings["tol_scale"]
		adaptive := string(sample.Settings["solver"]) == `"dopri5"`
		if step == adaptive || tolerance != adaptive {
			t.Errorf("trial %d: %s", n, Describe(sample.Settings))
		}
	}
	if err := base.Set("solver", "euler"); err != nil {
		t.Fatal(err)
	}
	sample, err := newSampler(s.Of("grand", "solver", "lr"), base, 1).Trial(0)
	if _, step := sample.Settings["step"]; err != nil || !step || sample.Settings["lr"] != nil ||
		sample.Settings["solver"] != nil {
		t.Errorf("with a fixed solver: %s, %v", Describe(sample.Settings), err)
	}
}

func TestRanges(t *testing.T) {
	for text, want := range map[string][]string{
		`{"log": [0.00001, 0.1]}`:           {"1e-05", "0.001", "0.1"},
		`{"linear": [0, 0.9], "step": 0.1}`: {"0", "0.5", "0.9"},
		`{"linear": [0.5, 8]}`:              {"0.5", "4.25", "8"},
		`{"integer": [1, 8]}`:               {"1", "5", "8"},
		`{"choice": ["a", "b"]}`:            {`"a"`, `"b"`, `"b"`},
	} {
		var r Range
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, u := range []float64{0, 0.5, 0.9999999} {
			got = append(got, string(r.at(u)))
		}
		if err := r.check(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestSpacesThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	const nested = `"lr": {"choice": [1], "when": {"norm": ["none"]}}, ` +
		`"norm": {"choice": ["none"], "when": {"hidden": [8]}}`
	for settings, want := range map[string]string{
		nested:                                                           "names norm, which has a condition itself",
		`"speed": {"log": [1, 2]}`:                                       `no model has a setting "speed"`,
		`"lr": {"log": [0.1, 0.001]}`:                                    "give the least number first",
		`"lr": {"log": [0, 0.1]}`:                                        "numbers above zero",
		`"dropout": {"linear": [0, 2]}`:                                  "dropout is 2",
		`"hidden": {"linear": [8, 9.5]}`:                                 "hidden is 9.5: it must be a whole number",
		`"hidden": {"integer": [8, 9.5]}`:                                "give whole numbers",
		`"hidden": {"choice": []}`:                                       "choice is empty",
		`"hidden": {"choice": ["wide"]}`:                                 `hidden is "wide"`,
		`"hidden": {}`:                                                   "it has 0 of",
		`"lr": {"log": [1, 2], "linear": [1, 2]}`:                        "it has 2 of",
		`"lr": {"log": [0.1, 1], "step": 0.1}`:                           "step is 0.1",
		`"lr": {"between": [0.1, 1]}`:                                    "unknown field",
		`"epochs": {"integer": [10, 100]}`:                               "epochs is no setting to search",
		`"lr": {"log": [0.1, 1], "when": {"solver": ["euler"]}}`:         `no setting "solver"`,
		`"norm": {"choice": ["none"], "when": {"hidden": []}}`:           "no value",
		`"lr": {"log": [0.001, 0.1]}}}], "more": [{"settings": {"a": {}`: "unknown field",
	} {
		path := filepath.Join(dir, "space.json")
		text := fmt.Sprintf(`{"name": "x", "about": "", "rules": [{"models": ["gcn"], "settings": {%s}}]}`, settings)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := openSpace(path); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", settings, err, want)
		}
	}
	if _, err := openSpace("published2"); err == nil || !strings.Contains(err.Error(), "published") {
		t.Errorf("an unknown name: %v", err)
	}
	c := train.Default("gcn")
	if _, err := newSampler(nil, c, 0).Trial(0); err == nil || !strings.Contains(err.Error(), "no setting of gcn") {
		t.Errorf("nothing to search: %v", err)
	}
}
