package paper

import (
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/runs"
)

// TestRowsBeyondThePaper: below the paper's rows, a table has rows for models that the paper does not have, if the
// profile has chosen settings for them. Such a row has results on the datasets of these settings only, and the model
// with the reverse process has a row of gains over its backbone. (The records are made by the function [fake], which
// puts models with a reverse process 10 points ahead.) Claims about tables do not ask for runs of these models.
func TestRowsBeyondThePaper(t *testing.T) {
	p := Quick()
	p.Chosen = nil
	items, err := Choose([]string{"table2"})
	if err != nil {
		t.Fatal(err)
	}
	s := runs.Scope{Profile: p.Profile, Datasets: []string{"minesweeper"},
		Models: []string{"sage-res", "sage+rep"}}
	if text := table(t, s, p, nil, "table2"); strings.Contains(text, "SAGE+ReP") {
		t.Errorf("without chosen settings, the table has\n%s", text)
	}
	for _, model := range []string{"sage+rep", "sage-res"} {
		p.Chosen = append(p.Chosen, runs.Choice{Dataset: "minesweeper", Model: model, Source: "this test"})
	}
	s.Profile = p.Profile
	text := table(t, s, p, allRuns(t, s, p, items), "table2")
	plain, with := strings.Index(text, "SAGE, residual"), strings.Index(text, "SAGE+ReP")
	if plain < strings.Index(text, "GCN+ReP") || with < plain {
		t.Fatalf("the table has\n%s", text)
	}
	row, rest, _ := strings.Cut(text[with:], "\n")
	gain, _, _ := strings.Cut(rest, "\n")
	missing := strings.Count(row, "–<sup>") // six datasets are not chosen, and seven numbers are not published
	if missing != 13 || strings.Contains(row, "the paper") || !strings.Contains(gain, "10.") {
		t.Errorf("the row of SAGE+ReP is\n%s\nand that of its gains is\n%s", row, gain)
	}
	v := runs.NewView(s, nil)
	judge(&View{v, p})
	for _, step := range v.Steps() {
		if step.Config.Model == "sage-res" { // figures 1 and 4 show a network of SAGE+ReP
			t.Errorf("a claim asks for %s", step.Task)
		}
	}
}
