package paper

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// elsewhereTable has the settings in the profile's list of chosen settings that no search has found. The table compares
// them with those that a search has chosen for the same model on the same dataset. The validation metrics are those by
// which the profile chooses between them.
func elsewhereTable(t *testing.T, searched *View) string {
	var rows []string
	views, seen := []*View{}, map[string]int{}
	for _, c := range searched.Profile.Chosen {
		seen[c.Dataset+" "+c.Model] = 0 // cells without a search have nothing to compare with
	}
	for _, c := range Quick().Chosen {
		n, known := seen[c.Dataset+" "+c.Model]
		if c.Source == "" || !known {
			continue
		}
		seen[c.Dataset+" "+c.Model]++
		if n == len(views) {
			views = append(views, fromElsewhere(t, n))
		}
		a, b := searched.Search(c.Dataset, c.Model), views[n].Search(c.Dataset, c.Model)
		rows = append(rows, fmt.Sprintf("%s | %s | %s | %s | %s | %s | %s", shortName(c.Dataset), c.Model, settingsOf(b),
			searched.validation(c.Dataset, a), views[n].validation(c.Dataset, b), outcomeOf(a).tests, outcomeOf(b).tests))
	}
	return markdown("dataset | model | settings from elsewhere | validation: search | validation: elsewhere | "+
		"test: search | test: elsewhere", rows)
}

// fromElsewhere returns a view whose profile has, for each model on each dataset, only candidate number n of those that
// no search has found. So the view gives the results of this candidate, even if another one is better on validation.
func fromElsewhere(t *testing.T, n int) *View {
	p, seen := Quick(), map[string]int{}
	p.Chosen = slices.DeleteFunc(slices.Clone(p.Chosen), func(c experiment.Choice) bool {
		if c.Source == "" {
			return true
		}
		seen[c.Dataset+" "+c.Model]++
		return seen[c.Dataset+" "+c.Model] != n+1
	})
	return everyTraining(t, p)
}

// everyTraining returns a view of the committed records, together with those of trainings that the profile does not show.
func everyTraining(t *testing.T, p Profile) *View {
	t.Helper()
	files, err := filepath.Glob("../../data/searches/*-tested.jsonl.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no records of tests in data/searches: %v", err)
	}
	return committed(t, p, files...)
}

// validation returns the mean validation metric, in percent, by which the profile compares candidates: over the first
// splits, with the first seed.
func (v *View) validation(dataset string, f experiment.Found) string {
	var values []float64
	for _, k := range v.Profile.Splits[:v.Profile.Tried] {
		if a := experiment.Ask[experiment.Trained](v.View, experiment.Training(dataset, k, f.Config)); a.OK() {
			values = append(values, 100*float64(a.Outcome.Val))
		}
	}
	if len(values) < v.Profile.Tried {
		return "–"
	}
	return fmt.Sprintf("%.2f", metrics.Mean(values))
}

// settingsOf returns the most important settings of a result as text.
func settingsOf(f experiment.Found) string {
	o, c := outcomeOf(f), f.Config
	text := o.layers
	if o.layers == c.Depth() {
		text += " layers"
	}
	text += fmt.Sprintf(", width %s, dropout %g, learning rate %g", o.width, c.Dropout, c.LearningRate)
	if c.Norm != "none" {
		text += fmt.Sprintf(", %s norm", c.Norm)
	}
	return text
}
