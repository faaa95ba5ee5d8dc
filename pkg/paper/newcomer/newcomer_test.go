// Package newcomer tests that revgnn plans the runs of a model for table 2 as soon as this model is registered in
// package models. Table 2 of the paper may have models that revgnn does not have. The test registers new models under
// the names of such models. A registered model stays registered until the test program ends. So the test is in a
// package of its own, and does not change the tests of package paper.
package newcomer

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/paper"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
)

// rows returns the names and titles of those models in table 2 that are not registered.
func rows(t *testing.T) (names, titles []string) {
	t.Helper()
	text, err := data.Paper("table2")
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Rows []struct{ Name, Model string }
	}
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Rows {
		if _, err := models.Lookup(r.Model); err != nil {
			names, titles = append(names, r.Model), append(titles, r.Name)
		}
	}
	return names, titles
}

// row makes table 2 without any run records, and returns one row of it as Markdown: the first row whose label is name.
// In place of each missing number, the row has the reason why the number is missing.
func row(t *testing.T, p paper.Profile, name string) string {
	t.Helper()
	items, err := paper.Choose([]string{"table2"})
	if err != nil {
		t.Fatal(err)
	}
	store, err := runs.Open(filepath.Join(t.TempDir(), "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	d, _, err := paper.Documents(&runs.Runner{Scope: runs.Scope{Profile: p.Profile}, Store: store}, p, items)
	if err != nil {
		t.Fatal(err)
	}
	table := d[0].Tables[0]
	table.Rows = slices.DeleteFunc(table.Rows, func(r report.Row) bool { return r.Label != name })
	if len(table.Rows) == 0 {
		t.Fatalf("the table has no row %s", name)
	}
	table.Rows = table.Rows[:1] // several rows have the label Δ; keep only the first
	text, err := table.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestNewcomers(t *testing.T) {
	names, titles := rows(t)
	if len(names) < 3 {
		t.Skip("the models of all rows are registered: there is no name to try")
	}
	quick, full := paper.Quick(), paper.Paper()
	if text := row(t, quick, titles[0]); !strings.Contains(text, "revgnn does not have this model") {
		t.Errorf("before: %s", text)
	}
	forward := models.Kind{Name: names[0], Title: titles[0], Shared: []string{"forward", "hidden", "dropout"},
		New: func(models.Config) models.Network { return nil }}
	reverse := forward
	reverse.Name, reverse.Title, reverse.Plain, reverse.Shared = names[1], titles[1], names[0],
		append(forward.Shared, "reverse")
	models.Register(forward, reverse)
	for _, p := range []paper.Profile{quick, full} {
		for _, k := range []models.Kind{forward, reverse} {
			if text := row(t, p, k.Title); !strings.Contains(text, runs.NotYet) {
				t.Errorf("profile %s: %s", p.Name, text)
			}
			for _, dataset := range runs.Datasets() {
				found, err := p.Candidates(dataset, k.Name)
				if err != nil || len(found) == 0 || found[0].Forward == 0 ||
					(found[0].Reverse > 0) != k.Has("reverse") {
					t.Errorf("profile %s, %s on %s: %+v, %v", p.Name, k.Name, dataset, found, err)
				}
			}
		}
		// The field Plain of the new model reverse names the new model forward. The table therefore has a row with the
		// label Δ, for the gains of reverse over forward. The paper prints no gains for these two models.
		if text := row(t, p, "Δ"); !strings.Contains(text, "the paper does not print it") {
			t.Errorf("profile %s: %s", p.Name, text)
		}
	}
	bare := quick
	if err := json.Unmarshal([]byte(`[{"models": ["`+names[2]+`"], "settings": {"lr": 0.1}}]`),
		&bare.Rules); err != nil {
		t.Fatal(err)
	}
	if text := row(t, bare, titles[0]); !strings.Contains(text, "has no settings for it") {
		t.Errorf("without rules about it: %s", text)
	}
	wrong := quick
	if err := json.Unmarshal([]byte(`[{"models": ["`+names[0]+`"], "settings": {"lipschitz": 0.1}}]`),
		&wrong.Rules); err != nil {
		t.Fatal(err)
	}
	if text := row(t, wrong, titles[0]); !strings.Contains(text, "has no setting") {
		t.Errorf("with a rule that can't be kept: %s", text)
	}
}
