package experiment

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestSeeds makes records of trainings with several seeds on each split, and checks the [Found] of these records. The
// test metric of a split must be the mean over the seeds. SeedStd must depend only on the differences between seeds on
// the same split. A split without a record for one of the seeds must not have a test metric.
func TestSeeds(t *testing.T) {
	p := profile(t, `{"name": "tiny", "datasets": ["cora"], "splits": [0], "tried": 1, "candidates": [],
		"chosen": [{"dataset": "cora", "model": "gcn", "settings": {"hidden": 4}, "splits": [3, 4, 5], "seeds": 2,
		"search": "search-1"}]}`)
	only, err := p.Candidates("cora", "gcn")
	if err != nil {
		t.Fatal(err)
	}
	var all []results.Record
	add := func(split int, seed uint64, test float64) {
		c := only[0]
		c.Seed = seed
		outcome, err := json.Marshal(Trained{Result: train.Result{Split: split, Val: 0.5, Test: train.Number(test)}})
		if err != nil {
			t.Fatal(err)
		}
		config, err := c.Resolved().MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, results.Record{Kind: results.Train, Dataset: "cora", Model: "gcn", Split: split, Config: config,
			Status: results.OK, Outcome: outcome, Seed: seed + uint64(split)})
	}
	add(3, 0, 0.5)
	add(3, 1000, 0.75)
	add(4, 0, 0.25)
	add(4, 1000, 0.5)
	add(5, 0, 1)
	f := NewView(Scope{Profile: p}, Index(all)).Search("cora", "gcn")
	if f.Search != "search-1" || f.Seeds != 2 || f.Missing != 1 || len(f.Tests) != 2 || f.Tests[3] != 0.625 ||
		f.Tests[4] != 0.375 {
		t.Errorf("%+v", f)
	}
	if want := 0.25 / math.Sqrt2; math.Abs(f.SeedStd-want) > 1e-12 {
		t.Errorf("the spread over seeds is %v, want %v", f.SeedStd, want)
	}
}

// TestOnlyCandidate: if a profile has a single setting for a model, nothing is compared. The field Why of the [Found]
// must then say why there are no results.
func TestOnlyCandidate(t *testing.T) {
	p := profile(t, `{"name": "tiny", "datasets": ["cora"], "splits": [0, 1], "tried": 2, "candidates":
		[{"settings": {"hidden": 4}}]}`)
	only, err := p.Candidates("cora", "gcn")
	if err != nil || len(only) != 1 {
		t.Fatalf("%d candidates, %v", len(only), err)
	}
	config, err := only[0].Resolved().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	diverged := func(split int) results.Record {
		return results.Record{Kind: results.Train, Dataset: "cora", Model: "gcn", Split: split, Seed: uint64(split),
			Config: config, Status: results.Diverged, Message: "epoch 3: not finite"}
	}
	for _, c := range []struct {
		scope   Scope
		records []results.Record
		why     string
		bad     int
	}{
		{Scope{}, nil, NotYet, 0},
		{Scope{Datasets: []string{"photo"}}, nil, "not run: not among the --datasets chosen", 0},
		{Scope{Absent: func(string) string { return "not run: dataset not here" }}, nil, "not run: dataset not here", 0},
		{Scope{}, []results.Record{diverged(0)}, NotYet, 1},
		{Scope{}, []results.Record{diverged(0), diverged(1)}, AllBad, 2},
	} {
		c.scope.Profile = p
		f := NewView(c.scope, Index(c.records)).Search("cora", "gcn")
		if f.Why != c.why || len(f.Bad) != c.bad || len(f.Tests) > 0 || (f.Config.Model == "") != (c.bad == 0) {
			t.Errorf("got %+v, want %q", f, c.why)
		}
	}
}
