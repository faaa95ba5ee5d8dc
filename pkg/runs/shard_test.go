package runs

import (
	"testing"

	"github.com/revgnn/revgnn/pkg/train"
)

func TestShards(t *testing.T) {
	p := profile(t,
		`{"datasets": ["cora", "photo", "pubmed"], "splits": [0, 1, 2, 3], "tried": 2,
		"candidates": [{"settings": {"hidden": 8, "lr": [0.01, 0.02]}}]}`)
	s := Scope{Profile: p}
	work := func(v *View) {
		for _, dataset := range p.Datasets {
			for _, model := range []string{"gcn", "gcn+rep", "gat", "grand"} {
				v.Search(dataset, model)
			}
			Ask[struct{}](v, Whole(Measure, dataset, train.Config{}))
		}
	}
	all := plan(s, nil, NewCosts(nil, ""), work, Shard{})
	var whole float64
	for _, step := range all.Steps {
		whole += step.Size()
	}
	seen, groups := 0, map[string]int{}
	for i := 1; i <= 3; i++ {
		part := plan(s, nil, NewCosts(nil, ""), work, Shard{i, 3})
		seen += part.Missing
		var size float64
		for _, step := range part.Steps {
			size += step.Size()
			if at := groups[step.Group]; at != 0 && at != i {
				t.Errorf("the group %q is in shards %d and %d", step.Group, at, i)
			}
			groups[step.Group] = i
		}
		if part.Missing+part.Done+part.Skipped != len(all.Steps) || size > whole/2 || size < whole/5 {
			t.Errorf("shard %d has %d of %d steps, %g of %g", i, part.Missing, len(all.Steps), size, whole)
		}
		// Records of runs, and a dataset that cannot be loaded, must not change which groups belong to a shard.
		first := all.Steps[0].Task
		done := []Record{ran(t, first, 1000, Trained{Result: train.Result{Epochs: 1, Status: OK}})}
		absent := s
		absent.Absent = func(dataset string) string { return map[string]string{"pubmed": "not here"}[dataset] }
		for _, step := range plan(absent, index(done), NewCosts(done, ""), work, Shard{i, 3}).Steps {
			if groups[step.Group] != i {
				t.Errorf("%s is in shard %d with records, in %d without", step.Group, i, groups[step.Group])
			}
		}
	}
	if seen != all.Missing {
		t.Errorf("three shards have %d of %d runs", seen, all.Missing)
	}
}

func TestParseShard(t *testing.T) {
	for _, bad := range []string{"0/2", "3/2", "1", "a/b", "1/2x", "-1/2"} {
		if _, err := ParseShard(bad); err == nil {
			t.Errorf("the shard %q was accepted", bad)
		}
	}
	if got, err := ParseShard("2/4"); err != nil || got != (Shard{2, 4}) {
		t.Errorf("got %v, %v", got, err)
	}
}
