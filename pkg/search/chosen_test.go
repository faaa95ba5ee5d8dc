package search

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/report/echarts"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestChosen evaluates the settings that a search has chosen, by ordinary trainings. It also saves these settings to a
// file, reads them again, and writes the figures of the search.
func TestChosen(t *testing.T) {
	g, dir := board(t), t.TempDir()
	s := tiny(t, g, filepath.Join(dir, "runs.sqlite"))
	r := run(t, s)
	runner := &runs.Runner{Store: s.Store, EngineName: s.Engine.Name,
		Engine: func() (*engine.Engine, error) { return s.Engine, nil },
		Load:   func(context.Context, string) (*graphs.Graph, error) { return g, nil }}
	e, err := Evaluate(t.Context(), runner, r, []int{0, 2})
	if err != nil {
		t.Fatal(err)
	}
	trained, err := s.Store.Find(runs.Query{Kind: runs.Train})
	if err != nil || len(trained) != 2 || len(e.Splits) != 2 || e.Mean != e.Mean || e.Splits[0].Record != trained[0].ID {
		t.Errorf("%+v with %d trainings, %v", e, len(trained), err)
	}
	// Evaluate uses a recorded training again only if the training was on the same graph. A graph with the same name
	// and other features needs its own trainings.
	changed := *g
	changed.Features = append([]float32{g.Features[0] + 1}, g.Features[1:]...)
	on := func(g *graphs.Graph) *runs.Runner {
		return &runs.Runner{Store: s.Store, EngineName: s.Engine.Name, Engine: runner.Engine,
			Load: func(context.Context, string) (*graphs.Graph, error) { return g, nil }}
	}
	for _, again := range []struct {
		g    *graphs.Graph
		want int // the number of trainings in the store afterwards
	}{{&changed, 4}, {g, 4}, {&changed, 4}} {
		one, err := Evaluate(t.Context(), on(again.g), r, []int{0, 2})
		if err != nil {
			t.Fatal(err)
		}
		trained, err := s.Store.Find(runs.Query{Kind: runs.Train})
		if err != nil || len(trained) != again.want || (one.Splits[0].Record == e.Splits[0].Record) != (again.g == g) {
			t.Errorf("%+v with %d trainings, %v", one, len(trained), err)
		}
	}
	path := filepath.Join(dir, "chosen.json")
	other := *r
	other.Model = "gat+rep"
	for _, each := range []*Result{r, &other, r} {
		if err := each.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	c, err := OpenChoices(path)
	if err != nil || len(c.Chosen) != 2 || c.Chosen[1].Model != r.Model || c.Chosen[1].Search != r.Search {
		t.Fatalf("%+v, %v", c, err)
	}
	found, err := runs.Profile{Chosen: c.Chosen}.Candidates(r.Dataset, r.Model)
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	again, _ := found[0].Resolved().MarshalJSON()
	if want, _ := r.Config.MarshalJSON(); string(again) != string(want) {
		t.Errorf("chosen was %s, and is read as %s", want, again)
	}
	for _, text := range []string{`{"selected": []}`, `{"chosen": []} {"chosen": []}`, `{"chosen": []}]`} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := r.Save(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("another file: %v", err)
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
			t.Errorf("%s has become %s, %v", text, kept, err)
		}
	}
	if _, err := echarts.Path(); err != nil {
		t.Skip(err)
	}
	names, err := r.Draw(filepath.Join(dir, "out"))
	if err != nil || len(names) != 7 {
		t.Errorf("%v, %v", names, err)
	}
}

// TestSaveTogether: if several searches save their choices to the same file at the same time, all choices are kept.
func TestSaveTogether(t *testing.T) {
	path, names := filepath.Join(t.TempDir(), "chosen.json"), []string{"gcn", "gat", "sage", "gcn+rep", "gat+rep"}
	var wait sync.WaitGroup
	for _, model := range names {
		r := &Result{Dataset: "cora", Model: model, Config: train.Default(model).Resolved()}
		wait.Go(func() {
			if err := r.Save(t.Context(), path); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if c, err := OpenChoices(path); err != nil || len(c.Chosen) != len(names) {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := os.Stat(path + ".lock"); err == nil {
		t.Error("the lock is still there")
	}
}

// TestEvaluateBalanced: chosen settings can be evaluated on a dataset with class-balanced splits, whose name ends with
// [data.Balanced]. If the dataset cannot be loaded, the error of [Evaluate] says why.
func TestEvaluateBalanced(t *testing.T) {
	g := board(t)
	s := tiny(t, g, filepath.Join(t.TempDir(), "runs.sqlite"))
	s.Base.Epochs = 1
	r := &Result{Search: s.ID(), Dataset: "cora" + data.Balanced, Model: s.Base.Model, Config: s.Base}
	runner := &runs.Runner{Store: s.Store, EngineName: s.Engine.Name,
		Engine: func() (*engine.Engine, error) { return s.Engine, nil },
		Load:   func(context.Context, string) (*graphs.Graph, error) { return g, nil }}
	if e, err := Evaluate(t.Context(), runner, r, []int{1}); err != nil || len(e.Splits) != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	runner.Absent = func(string) string { return "the disk is away" }
	if _, err := Evaluate(t.Context(), runner, r, []int{2}); err == nil || !strings.Contains(err.Error(), "away") {
		t.Errorf("without the dataset: %v", err)
	}
}

// TestRealSearch makes a search on a real dataset: four trials of GCN on Chameleon. The settings, such as the learning
// rate and dropout, are drawn from the space named "published".
func TestRealSearch(t *testing.T) {
	g, err := datasets.Load(t.Context(), "chameleon-filtered", datasets.Options{Offline: true})
	if err != nil {
		t.Skip(err)
	}
	s := tiny(t, g, filepath.Join(t.TempDir(), "runs.sqlite"))
	if s.Space, err = openSpace(data.PublishedSpace); err != nil {
		t.Fatal(err)
	}
	s.Dataset, s.Base, s.Fixed = "chameleon-filtered", train.Default("gcn"), []string{"hidden", "forward"}
	s.Base.Hidden, s.Base.Forward, s.Base.Epochs = 16, 2, 9
	s.Schedule = NewSchedule(9, 3, 3, 4)
	s.Engine = enginetest.Open(t, engine.Go)
	r := run(t, s)
	if !r.Complete || len(r.Trials) != 4 || r.Best.Rung != 1 || r.Epochs != 2*(4*3+6) || !(r.Best.Val > 0.2) {
		t.Errorf("%+v", r)
	}
}

func FuzzSpace(f *testing.F) {
	text, err := data.Space(data.PublishedSpace)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"name": "a", "rules": [{"settings": {"hidden": {"integer": [1, 9e300]}}}]}`))
	f.Add([]byte(`{"name": "a", "rules": [{"models": ["gcn"], "settings": {"lr": {"linear": [0, 1], "step": 1e-300}}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSpace(text)
		if err != nil {
			return
		}
		sampler := newSampler(s.Of("gcn"), train.Default("gcn"), 1)
		if sample, err := sampler.Trial(2); err == nil && sample.Config.Validate() != nil {
			t.Errorf("%s gives %s", text, Describe(sample.Settings))
		}
	})
}
