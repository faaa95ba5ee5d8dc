package paper

import (
	"fmt"
	"strings"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/runs"
)

// elsewhereTable has the settings in the profile's list of chosen settings that no search has found, but for models and
// datasets without a search. Beside the results of these settings are those of the settings of the search. The
// validation metrics are the ones by which the profile chooses among all of them.
func elsewhereTable(searched *View) string {
	var rows []string
	for _, c := range Quick().Chosen {
		if c.Source == "" || !searched.Profile.HasChosen(c.Dataset, c.Model) {
			continue
		}
		// With this candidate alone, Search gives its results, even if another candidate is better on validation.
		alone := *searched.View
		alone.Scope.Profile.Chosen = []runs.Choice{c}
		a, b := searched.Search(c.Dataset, c.Model), alone.Search(c.Dataset, c.Model)
		rows = append(rows, fmt.Sprintf("%s | %s | %s | %s | %s | %s | %s", shortName(c.Dataset), c.Model, settingsOf(b),
			searched.validation(c.Dataset, a), searched.validation(c.Dataset, b), outcomeOf(a).tests,
			outcomeOf(b).tests))
	}
	return markdown("dataset | model | settings from elsewhere | validation: search | validation: elsewhere | "+
		"test: search | test: elsewhere", rows)
}

// validation returns the mean validation metric, in percent, by which the profile compares candidates: over the first
// splits, with the first seed.
func (v *View) validation(dataset string, f runs.Found) string {
	var values []float64
	for _, k := range f.Splits[:min(v.Profile.Tried, len(f.Splits))] {
		if a := runs.Ask[runs.Trained](v.View, runs.Training(dataset, k, f.Config)); a.OK() {
			values = append(values, 100*float64(a.Outcome.Val))
		}
	}
	if len(values) < v.Profile.Tried {
		return "–"
	}
	return fmt.Sprintf("%.2f", metrics.Mean(values))
}

// settingsOf returns the most important settings of a result as text.
func settingsOf(f runs.Found) string {
	o, c := outcomeOf(f), f.Config
	if c.Model == "" {
		return f.Why
	}
	text := o.layers
	if !strings.HasPrefix(text, "time ") {
		text += " layers"
	}
	text += fmt.Sprintf(", width %s, dropout %g, learning rate %g", o.width, c.Dropout, c.LearningRate)
	if c.Norm != "none" {
		text += fmt.Sprintf(", %s norm", c.Norm)
	}
	return text
}
