package search

import (
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestCommittedChoices checks the chosen settings in the profiles in data/settings. Each choice names the search that
// found it, or where else it is from. The records of searches are in data/searches. The trial with the best validation
// metric in these records must have the chosen settings. The records must have no test metric.
func TestCommittedChoices(t *testing.T) {
	for _, name := range data.SettingsNames() {
		text, err := data.Settings(name)
		if err != nil {
			t.Fatal(err)
		}
		var profile Choices // the other fields of a profile are ignored
		if err := json.Unmarshal(text, &profile); err != nil {
			t.Fatal(err)
		}
		for _, c := range profile.Chosen {
			if c.Search == "" && c.Source == "" {
				t.Errorf("%s: the settings of %s on %s name neither a search nor a source", name, c.Model, c.Dataset)
			}
			if c.Search == "" {
				continue
			}
			t.Run(c.Dataset+" "+c.Model, func(t *testing.T) { checkChoice(t, c) })
		}
	}
}

func checkChoice(t *testing.T, c runs.Choice) {
	store, err := runs.Open(filepath.Join(t.TempDir(), "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	file := filepath.Join("..", "..", "data", "searches", c.Dataset+"-"+c.Model+".jsonl.gz")
	if _, _, err := store.Import(file); err != nil {
		t.Fatal(err)
	}
	all, err := store.Find(runs.Query{Profile: c.Search})
	if err != nil || len(all) == 0 {
		t.Fatalf("%s has %d records of %s, %v", file, len(all), c.Search, err)
	}
	type step struct{ trial, rung int }
	vals, splits, configs := map[step][]float64{}, map[int]bool{}, map[step]json.RawMessage{}
	for _, r := range all {
		var o Outcome
		var names map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(r.Outcome, &o), json.Unmarshal(r.Outcome, &names)); err != nil {
			t.Fatal(err)
		}
		if _, tested := names["test"]; tested || r.Kind != runs.Search {
			t.Fatalf("%s is no record of a search without a test metric", r.ID)
		}
		splits[r.Split] = true
		if at := (step{o.Trial, o.Rung}); r.Status == runs.OK {
			vals[at], configs[at] = append(vals[at], float64(o.Val)), r.Config
		}
	}
	var whole []step // steps of all splits
	for at, list := range vals {
		if len(list) == len(splits) {
			whole = append(whole, at)
		}
	}
	if len(whole) == 0 {
		t.Fatal("no trial went well")
	}
	best := slices.MinFunc(whole, func(a, b step) int { // in the order of Standings.Best
		return cmp.Or(cmp.Compare(metrics.Mean(vals[b]), metrics.Mean(vals[a])), cmp.Compare(b.rung, a.rung),
			cmp.Compare(a.trial, b.trial))
	})
	chosen, err := c.Settings.With(train.Default(c.Model))
	if err != nil {
		t.Fatal(err)
	}
	var trained train.Config // settings that the record does not have, since they are newer, get their defaults
	if err := json.Unmarshal(configs[best], &trained); err != nil {
		t.Fatal(err)
	}
	if have, want := chosen.Resolved(), trained.Resolved(); !reflect.DeepEqual(have, want) {
		t.Errorf("the settings %v are chosen, and the best trial, %d, has %v", have, best.trial, want)
	}
}
