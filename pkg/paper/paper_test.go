package paper

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/runs"
)

// TestAllItems makes all items in both profiles, and renders their tables and figures. It does so once without records,
// and once with records of all runs.
func TestAllItems(t *testing.T) {
	t.Parallel()
	items := Items()
	for _, profile := range []Profile{Quick(), Paper()} {
		s := runs.Scope{Profile: profile.Profile}
		for _, records := range []runs.Records{nil, allRuns(t, s, profile, items)} {
			for i, d := range documents(s, profile, records) {
				if records != nil && items[i].draws != (len(d.Figures) > 0) {
					t.Errorf("%s has %d figures, and its item says draws = %v", d.Name, len(d.Figures), items[i].draws)
				}
				if records == nil && d.Name != "table1" && len(d.Records) > 0 {
					t.Errorf("%s has %d records", d.Name, len(d.Records))
				}
				if records != nil && len(d.Figures)+len(d.Tables) == 0 {
					t.Errorf("%s shows nothing", d.Name)
				}
				for _, table := range d.Tables {
					for name, write := range map[string]func() (string, error){"HTML": table.HTML,
						"Markdown": table.Markdown, "LaTeX": table.LaTeX, "CSV": table.CSV} {
						if text, err := write(); err != nil || text == "" {
							t.Errorf("%s %s as %s: %v", profile.Name, table.ID, name, err)
						}
					}
				}
				for _, f := range d.Figures {
					if _, err := f.Option(); err != nil {
						t.Errorf("%s %s: %v", profile.Name, f.ID, err)
					}
				}
				if lines := d.Provenance(profile); len(lines) == 0 || lines[0] != profile.About {
					t.Errorf("%s does not say its profile: %q", d.Name, lines)
				}
			}
		}
	}
}

// rules reads a list of rules from JSON, in the format of the files in data/settings. A rule says which values the
// settings of the candidates have.
func rules(t *testing.T, text string) (r []runs.Rule) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSettingsAreChosenOnValidation: settings are chosen by the validation metric, not by the test metric. The records
// are made by the function [fake]: the settings with the best validation metric have the worst test metric.
func TestSettingsAreChosenOnValidation(t *testing.T) {
	p := Quick()
	p.Tried, p.Chosen = 1, nil // without Chosen, settings are chosen among candidates
	p.Rules = rules(t,
		`[{"settings": {"hidden": 8, "epochs": 10, "patience": 5, "lr": [0.01, 0.03, 0.02]},
		"depths": [{"forward": 2, "reverse": 2}]}]`)
	s := runs.Scope{Profile: p.Profile, Datasets: []string{"cora"}, Models: []string{"gcn", "gcn+rep"}}
	items, err := Choose([]string{"table6"})
	if err != nil {
		t.Fatal(err)
	}
	first := runs.NewView(s, nil)
	Work(p, items)(first)
	records := allRuns(t, s, p, items)
	last := runs.NewView(s, records)
	Work(p, items)(last)
	if len(first.Steps()) != len(last.Steps()) {
		t.Errorf("the first plan had %d runs, %d were made", len(first.Steps()), len(last.Steps()))
	}
	f := last.Search("cora", "gcn")
	if f.Config.LearningRate != 0.03 || len(f.Tests) != 3 || math.Abs(f.Tests[0]-0.57) > 1e-9 {
		t.Errorf("got %+v", f)
	}
	text := table(t, s, p, records, "table6")
	for _, want := range []string{"57.33 ± 0.58", "10.00 (↑)",
		"not among the --datasets chosen"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	// Change the record of split 2, so that its training diverged. The table must say that the mean does not include
	// this split.
	for _, r := range records {
		if r.Model == "gcn" && r.Split == 2 {
			r.Status, r.Message = runs.Diverged, "epoch 3: not finite"
		}
	}
	text = table(t, s, p, records, "table6")
	if want := "1 of 3 splits without a result, not in the mean: " +
		"split 2 diverged (epoch 3: not finite)"; !strings.Contains(text, want) ||
		!strings.Contains(text, "2 splits, too few to test") {
		t.Errorf("the table lacks %q:\n%s", want, text)
	}
}

// table makes the document of the item with the given name. It returns the first table of the document as Markdown,
// without the marks for small and bold text.
func table(t *testing.T, s runs.Scope, p Profile, records runs.Records, name string) string {
	t.Helper()
	items, err := Choose([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	text, err := build(&View{runs.NewView(s, records), p}, items)[0].Tables[0].Markdown()
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("<small>", "", "</small>", "", "**", "").Replace(text)
}

func TestPairedT(t *testing.T) {
	// The expected value is the p-value of scipy.stats.ttest_rel([1.2, 2.1, 3.3, 4.6], [1, 2, 3, 4]). The function
	// pairedT gets the differences of these pairs.
	if p := pairedT([]float64{0.2, 0.1, 0.3, 0.6}); math.Abs(p-0.06913686926442868) > 1e-9 {
		t.Errorf("p = %g", p)
	}
	for _, x := range [][]float64{nil, {1}, {1, 2}, {3, 3, 3}} {
		if p := pairedT(x); !math.IsNaN(p) {
			t.Errorf("%v has p = %g", x, p)
		}
	}
}

func TestChoose(t *testing.T) {
	items, err := Choose([]string{"fig2", "table1"})
	if err != nil || len(items) != 2 || items[0].Name != "table1" {
		t.Errorf("got %v, %v", items, err)
	}
	if items, err = Choose([]string{"all"}); err != nil || len(items) != 13 {
		t.Errorf("got %d, %v", len(items), err)
	}
	if _, err = Choose([]string{"table7"}); err == nil || !strings.Contains(err.Error(), "table7") {
		t.Errorf("got %v", err)
	}
	if err := runs.CheckChoice([]string{"cora"}, []string{"gcnn"}); err == nil {
		t.Error("the model gcnn was accepted")
	}
	if err := runs.CheckChoice([]string{"coral"}, nil); err == nil {
		t.Error("the dataset coral was accepted")
	}
	if !slices.Contains(runs.Datasets(), "questions") {
		t.Error("questions is missing")
	}
}
