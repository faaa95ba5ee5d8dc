package runs

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

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
	var all []Record
	add := func(split int, seed uint64, test float64) {
		c := only[0]
		c.Seed = seed
		all = append(all, trainedRecord(t, c, split, 0.5, test))
	}
	add(3, 0, 0.5)
	add(3, 1000, 0.75)
	add(4, 0, 0.25)
	add(4, 1000, 0.5)
	add(5, 0, 1)
	f := NewView(Scope{Profile: p}, index(all)).Search("cora", "gcn")
	if f.Search != "search-1" || f.Seeds != 2 || f.Missing != 1 || len(f.Tests) != 2 || f.Tests[3] != 0.625 ||
		f.Tests[4] != 0.375 {
		t.Errorf("%+v", f)
	}
	if want := 0.25 / math.Sqrt2; math.Abs(f.SeedStd-want) > 1e-12 {
		t.Errorf("the spread over seeds is %v, want %v", f.SeedStd, want)
	}
}

// TestSeveralChosen: of several chosen settings, those with the best validation metric on the first splits count, with
// their own number of seeds and their source. The test metric plays no part. Their splits must be the same.
func TestSeveralChosen(t *testing.T) {
	const both = `{"name": "tiny", "datasets": ["cora"], "splits": [0], "tried": 2, "candidates": [], "chosen": [
		{"dataset": "cora", "model": "gcn", "settings": {"hidden": 4}, "splits": [3, 4, 5], "seeds": 2, "search": "s"},
		{"dataset": "cora", "model": "gcn", "settings": {"hidden": 8}, "splits": [%s], "source": "a paper"}]}`
	p := profile(t, fmt.Sprintf(both, "3, 4, 5"))
	two, err := p.Candidates("cora", "gcn")
	if err != nil || len(two) != 2 {
		t.Fatalf("%d candidates, %v", len(two), err)
	}
	var all []Record
	for split := 3; split < 6; split++ {
		all = append(all, trainedRecord(t, two[0], split, 0.5, 0.9), trainedRecord(t, two[1], split, 0.6, 0.25))
	}
	f := NewView(Scope{Profile: p}, index(all)).Search("cora", "gcn")
	if f.Source != "a paper" || f.Search != "" || f.Candidates != 2 || f.Seeds != 1 || f.Config.Hidden != 8 ||
		f.Missing != 0 || len(f.Tests) != 3 || f.Tests[5] != 0.25 {
		t.Errorf("%+v", f)
	}
	if f = NewView(Scope{Profile: p}, index(all[:3])).Search("cora", "gcn"); f.Why != NotYet || f.Source != "" {
		t.Errorf("with a candidate without its runs: %+v", f)
	}
	again := two[0]
	again.Seed = seedStep
	view := NewView(Scope{Profile: p, Splits: []int{5}}, index([]Record{trainedRecord(t, two[0], 5, 0.7, 0.8),
		trainedRecord(t, again, 5, 0.5, 0.5), trainedRecord(t, two[1], 5, 0.6, 0.25)}))
	if f = view.Search("cora", "gcn"); f.Search != "s" || f.Seeds != 2 || f.Config.Hidden != 4 {
		t.Errorf("on split 5, where the first is ahead: %+v", f)
	}
	p.Chosen[1].Splits, p.Splits = nil, []int{3, 4, 5}
	if _, err := p.Candidates("cora", "gcn"); err != nil {
		t.Errorf("the splits of the profile, in two ways: %v", err)
	}
	other := profile(t, fmt.Sprintf(both, "0, 1"))
	if _, err := other.Candidates("cora", "gcn"); err == nil || !strings.Contains(err.Error(), "the same splits") {
		t.Errorf("other splits: %v", err)
	}
}

// TestRepeated: on the datasets and for the models that the list Repeated of a profile names, the candidate with the
// best validation metric is trained with several seeds. Other candidates, models and datasets have one seed. Chosen
// settings have the same number of seeds, unless they have their own.
func TestRepeated(t *testing.T) {
	p := profile(t, `{"name": "tiny", "datasets": ["cora"], "splits": [0], "tried": 1,
		"candidates": [{"settings": {"hidden": [4, 8]}}],
		"repeated": [{"datasets": ["cora"], "models": ["gcn"], "seeds": 2}]}`)
	two, err := p.Candidates("cora", "gcn")
	if err != nil || len(two) != 2 {
		t.Fatalf("%d candidates, %v", len(two), err)
	}
	// Without records, there are two trainings to compare the candidates, and one that will follow with another seed.
	empty := NewView(Scope{Profile: p}, nil)
	empty.Search("cora", "gcn")
	if steps := empty.Steps(); len(steps) != 3 || !steps[2].Provisional || steps[2].Config.Seed != seedStep {
		t.Errorf("without records, the plan is %+v", steps)
	}
	again := two[1]
	again.Seed = seedStep
	view := NewView(Scope{Profile: p}, index([]Record{trainedRecord(t, two[0], 0, 0.5, 0.9),
		trainedRecord(t, two[1], 0, 0.6, 0.25), trainedRecord(t, again, 0, 0.4, 0.75)}))
	f := view.Search("cora", "gcn")
	if f.Seeds != 2 || f.Config.Hidden != 8 || f.Missing != 0 || f.Tests[0] != 0.5 {
		t.Errorf("%+v", f)
	}
	if steps := view.Steps(); len(steps) != 3 {
		t.Errorf("%d trainings, want one of the first candidate and two of the second", len(steps))
	}
	if n, m := p.seeds("cora", "gat"), p.seeds("photo", "gcn"); n != 1 || m != 1 {
		t.Errorf("another model has %d seeds, and another dataset %d", n, m)
	}
	p.Chosen = []Choice{{Dataset: "cora", Model: "gcn"}, {Dataset: "cora", Model: "gcn", Seeds: 1}}
	if c, _, err := p.candidates("cora", "gcn"); err != nil || c[0].seeds != 2 || c[1].seeds != 1 {
		t.Errorf("chosen settings have %+v seeds, not 2, and 1 where they say so; %v", c, err)
	}
}

// trained returns the record of a training of GCN on Cora with settings c, and with the given metrics.
func trainedRecord(t *testing.T, c train.Config, split int, val, test float64) Record {
	t.Helper()
	outcome, err := json.Marshal(Trained{Result: train.Result{Split: split, Val: train.Number(val),
		Test: train.Number(test)}})
	if err != nil {
		t.Fatal(err)
	}
	config, err := c.Resolved().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return Record{Kind: Train, Dataset: "cora", Model: "gcn", Split: split, Config: config,
		Status: OK, Outcome: outcome, Seed: c.Seed + uint64(split)}
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
	diverged := func(split int) Record {
		return Record{Kind: Train, Dataset: "cora", Model: "gcn", Split: split, Seed: uint64(split),
			Config: config, Status: Diverged, Message: "epoch 3: not finite"}
	}
	failed := func(split int) Record {
		r := diverged(split)
		r.Status, r.Message = Failed, "it needs 90 GiB"
		return r
	}
	for _, c := range []struct {
		scope   Scope
		records []Record
		why     string
		bad     int
	}{
		{Scope{}, []Record{failed(0), failed(1)}, "split 1 failed (it needs 90 GiB)", 0},
		{Scope{}, []Record{diverged(0), failed(1)}, "split 1 failed (it needs 90 GiB)", 1},
		{Scope{}, nil, NotYet, 0},
		{Scope{Datasets: []string{"photo"}}, nil, "not run: not among the --datasets chosen", 0},
		{Scope{Absent: func(string) string { return "not run: dataset not here" }}, nil, "not run: dataset not here", 0},
		{Scope{}, []Record{diverged(0)}, NotYet, 1},
		{Scope{}, []Record{diverged(0), diverged(1)}, AllBad, 2},
	} {
		c.scope.Profile = p
		f := NewView(c.scope, index(c.records)).Search("cora", "gcn")
		if f.Why != c.why || len(f.Bad) != c.bad || len(f.Tests) > 0 || (f.Config.Model == "") != (c.bad == 0) {
			t.Errorf("got %+v, want %q", f, c.why)
		}
	}
}
