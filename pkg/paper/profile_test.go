package paper

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/runs"
)

// impossible returns an error if a benchmark, a depth or a way to use a layer has impossible settings, or if the layers
// of a way are not its own.
func impossible(p Profile) error {
	for _, q := range p.Complexity.Quantities {
		for _, value := range q.Values {
			if _, err := p.Complexity.task(q, value); err != nil {
				return fmt.Errorf("complexity, %s: %w", q.Quantity, err)
			}
		}
	}
	for _, c := range p.Depth.Curves {
		for i := range c.Depths {
			if _, err := c.at(i); err != nil {
				return fmt.Errorf("depth, %s: %w", c.Dataset, err)
			}
		}
	}
	for _, dataset := range p.Reversing.Datasets {
		for _, b := range p.Reversing.Blocks {
			for k, w := range b.Ways {
				if !about(b.Datasets, dataset) {
					continue
				}
				all, err := p.Reversing.candidates(dataset, w)
				for _, c := range all {
					if forward, reverse := c.Forward > 0, c.Reverse > 0; err == nil &&
						(forward != (k != reverseOnly) || reverse != (k != forwardOnly)) {
						err = fmt.Errorf("%s on %s has %s layers, which is not %q", w.Model, dataset, c.Depth(), wayNames[k])
					}
				}
				if err != nil {
					return fmt.Errorf("reversing, %s: %w", b.Title, err)
				}
			}
		}
	}
	return nil
}

func TestConfigurationsAreValid(t *testing.T) {
	t.Parallel()
	for _, profile := range []Profile{Quick(), Paper()} {
		if err := impossible(profile); err != nil {
			t.Errorf("%s: %v", profile.Name, err)
		}
		v := runs.NewView(runs.Scope{Profile: profile.Profile, Datasets: runs.Datasets()}, nil)
		Work(profile, Items())(v)
		for _, s := range v.Steps() {
			if err := s.Config.Validate(); s.Kind != runs.Measure && err != nil {
				t.Errorf("%s: %s: %v", profile.Name, s.Task, err)
			}
		}
		for _, dataset := range runs.Datasets() {
			for _, model := range models.Names() {
				if all, err := profile.Candidates(dataset, model); err != nil || len(all) == 0 {
					t.Errorf("profile %s has %d candidates for %s on %s: %v", profile.Name, len(all), model, dataset,
						err)
				}
			}
		}
	}
}

// TestProfilesAreReadStrictly: a profile is refused if it has a name that is not known, for example because of a
// misspelling. It is also refused if it gives a model a setting that this model does not have, and if its chosen
// settings of one model on one dataset have different splits.
func TestProfilesAreReadStrictly(t *testing.T) {
	text, err := data.Settings("quick")
	if err != nil {
		t.Fatal(err)
	}
	for old, now := range map[string]string{
		`"tried": 3`:                    `"tired": 3`,
		`"settings": {"hidden": 64, `:   `"settings": {"hiden": 64, `,
		`"setting": "forward"`:          `"setting": "foreward"`,
		`"plain": {"model": "gcn",`:     `"plain": {"model": "gcn", "lipschitz": 0.5,`,
		`"layers": 1024, "settings": {`: `"layers": 1024, "settings": {"heads": 2, `,
		`"chosen": [`:                   `"chosen": [{"dataset": "cora", "model": "gcn", "settings": {}, "splits": [0]}, `,
	} {
		changed := strings.Replace(string(text), old, now, 1)
		if changed == string(text) {
			t.Fatalf("no %s in data/settings/quick.json", old)
		}
		p, err := readProfile([]byte(changed))
		if err = cmp.Or(err, impossible(p)); err == nil {
			t.Errorf("%s was accepted", now)
		}
	}
	if _, err := ParseProfile("slow"); err == nil || !strings.Contains(err.Error(), "quick") {
		t.Errorf("an unknown profile: %v", err)
	}
}

// TestCommittedRecords: every run that has a record in data/records is among the runs of the profile quick, and its
// record is found. A record is found by its key, a hash of the task. Earlier versions of revgnn computed keys in
// another way; their records must be found, too.
func TestCommittedRecords(t *testing.T) {
	t.Parallel()
	store, err := runs.Open(filepath.Join(t.TempDir(), "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	added, err := store.AddCommitted()
	if err != nil {
		t.Fatal(err)
	}
	p := Quick()
	r := &runs.Runner{Scope: runs.Scope{Profile: p.Profile}, Store: store}
	plan, err := r.Plan(Work(p, Items()))
	if err != nil || plan.Done != added {
		t.Fatalf("of %d committed runs, %d are found: %v", added, plan.Done, err)
	}
	// All runs of the profile must have committed records, so that `make paper` need not make any runs. There is one
	// exception: a newly registered model may have no records at all.
	run := map[string]bool{}
	for _, s := range plan.Steps {
		run[s.Config.Model] = run[s.Config.Model] || s.Done
	}
	for _, s := range plan.Steps {
		if !s.Done && run[s.Config.Model] {
			t.Errorf("%s is missing", s.Task)
		}
	}
}
