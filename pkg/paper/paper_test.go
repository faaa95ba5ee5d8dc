package paper

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// fake is a record such as a task could have left. Validation metrics rise with the learning rate, test metrics fall.
func fake(t *testing.T, task Task) *results.Record {
	t.Helper()
	var outcome any
	switch task.Kind {
	case results.Train:
		lr := task.Config.LearningRate
		o := Trained{Result: train.Result{Split: task.Split, BestEpoch: 1, Epochs: 2, Val: train.Number(0.5 + lr), Test: train.Number(0.6 - lr + 0.01*float64(task.Split%2)), Status: train.OK}, Metric: "accuracy"}
		if task.Config.HasReverse() {
			o.Test += 0.1
		}
		if task.Follow != nil {
			o.Followed = &Followed{}
			layers := func(depth int) (out []Layer) {
				for _, l := range task.Follow.Layers {
					if l <= depth {
						one := Layer{Layer: l, GSL: 0.5}
						for _, p := range task.Follow.Boards {
							one.Boards = append(one.Boards, make([]float64, p.Side*p.Side))
						}
						out = append(out, one)
					}
				}
				return out
			}
			o.Followed.Forward, o.Followed.Reverse = layers(task.Config.Forward), layers(task.Config.Reverse)
			for _, p := range task.Follow.Boards {
				o.Followed.Boards = append(o.Followed.Boards, Board{p, make([]float64, p.Side*p.Side), make([]float64, p.Side*p.Side)})
			}
		}
		outcome = o
	case results.Invert:
		outcome = train.Inversion{MeanAbsError: 3e-7, MeanAbsInput: 0.1, Residual: []train.Number{1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9}}
	case results.Bench:
		outcome = Timed{Benchmark: train.Benchmark{EpochSeconds: seconds(task), PeakRSS: int64(4e8 + 100*Memory(task))}, IdleRSS: 4e8}
	case results.Measure:
		g := sizeOf(task.Dataset)
		outcome = metrics.Stats{Name: task.Dataset, Nodes: int(g.nodes), Edges: int(g.edges)}
	}
	r := results.Begin(task.Kind)
	text, err := json.Marshal(outcome)
	if err != nil {
		t.Fatal(err)
	}
	r.Key, r.Dataset, r.Model, r.Split, r.Status, r.Outcome, r.Engine = task.key(), task.Dataset, task.Config.Model, task.Split, results.OK, text, "xla:cpu"
	return &r
}

// complete adds fake records until nothing is missing.
func complete(t *testing.T, s Scope, items []Item) map[string]*results.Record {
	t.Helper()
	records := map[string]*results.Record{}
	for {
		p := plan(s, records, items, Shard{})
		if p.Missing == 0 {
			return records
		}
		for _, step := range p.Steps {
			if !step.Done && !step.Provisional {
				records[step.Key] = fake(t, step.Task)
			}
		}
	}
}

// TestAllItems renders everything with all records and with none, in both profiles.
func TestAllItems(t *testing.T) {
	for _, profile := range []Profile{Quick(), Paper()} {
		s := Scope{Profile: profile}
		for _, records := range []map[string]*results.Record{nil, complete(t, s, Items())} {
			for _, d := range build(newView(s, records), Items()) {
				if records == nil && d.Name != "table1" && len(d.Records) > 0 {
					t.Errorf("%s has %d records", d.Name, len(d.Records))
				}
				if records != nil && len(d.Figures)+len(d.Tables) == 0 {
					t.Errorf("%s shows nothing", d.Name)
				}
				for _, table := range d.Tables {
					for name, write := range map[string]func() (string, error){"HTML": table.HTML, "Markdown": table.Markdown, "LaTeX": table.LaTeX, "CSV": table.CSV} {
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

func TestConfigurationsAreValid(t *testing.T) {
	for _, profile := range []Profile{Quick(), Paper()} {
		v := newView(Scope{Profile: profile, Datasets: datasetNames()}, nil)
		build(v, Items())
		for _, s := range v.steps {
			if err := s.Config.Validate(); s.Kind != results.Measure && err != nil {
				t.Errorf("%s: %s: %v", profile.Name, s.Task, err)
			}
			if cost := seconds(s.Task); !(cost > 0) || Memory(s.Task) < 1e8 {
				t.Errorf("%s costs %g s", s.Task, cost)
			}
		}
	}
}

// TestSettingsAreChosenOnValidation: the fake test metric is best where validation is worst.
func TestSettingsAreChosenOnValidation(t *testing.T) {
	profile := Quick()
	profile.Tried = 1
	profile.Candidates = func(_, model string) []train.Config {
		return grid{depths: [][2]int{{2, 2}}, lr: []float64{0.01, 0.03, 0.02}, dropout: []float64{0}, weightDecay: []float64{0}, norm: "none", hidden: 8, epochs: 10, patience: 5}.candidates(model)
	}
	s := Scope{Profile: profile, Datasets: []string{"cora"}, Models: []string{"gcn", "gcn+rep"}}
	items, err := Choose([]string{"table6"})
	if err != nil {
		t.Fatal(err)
	}
	first := plan(s, nil, items, Shard{})
	records := complete(t, s, items)
	last := plan(s, records, items, Shard{})
	if first.Missing != last.Done {
		t.Errorf("the first plan had %d runs, %d were made", first.Missing, last.Done)
	}
	f := newView(s, records).search("cora", "gcn")
	if f.config.LearningRate != 0.03 || len(f.tests) != 3 || math.Abs(f.tests[0]-0.57) > 1e-9 {
		t.Errorf("got %+v", f)
	}
	text := table(t, s, records, "table6")
	for _, want := range []string{"57.33 ± 0.58", "10.00 (↑)", "not run: revgnn does not have this model", "not among the --datasets chosen"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	// Without the best setting's validation, the next is chosen; a split that diverged is told, and not averaged away.
	for _, r := range records {
		var o Trained
		if json.Unmarshal(r.Outcome, &o) == nil && r.Model == "gcn" && r.Split == 2 {
			r.Status, r.Message = results.Diverged, "epoch 3: not finite"
		}
	}
	text = table(t, s, records, "table6")
	if want := "1 of 3 splits failed, not in the mean: split 2 diverged (epoch 3: not finite)"; !strings.Contains(text, want) || !strings.Contains(text, "2 splits, too few to test") {
		t.Errorf("the table lacks %q:\n%s", want, text)
	}
}

// table is a document's first table as Markdown.
func table(t *testing.T, s Scope, records map[string]*results.Record, name string) string {
	t.Helper()
	items, err := Choose([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	text, err := build(newView(s, records), items)[0].Tables[0].Markdown()
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("<small>", "", "</small>", "", "**", "").Replace(text)
}

func TestShards(t *testing.T) {
	s, items := Scope{Profile: Quick()}, Items()
	all := plan(s, nil, items, Shard{})
	done := complete(t, s, items)
	seen, groups, most := 0, map[string]int{}, 0.0
	for i := 1; i <= 3; i++ {
		p := plan(s, nil, items, Shard{i, 3})
		seen += p.Missing
		most = max(most, p.Seconds)
		for _, step := range p.Steps {
			if at := groups[step.Group]; at != 0 && at != i {
				t.Errorf("the group %q is in shards %d and %d", step.Group, at, i)
			}
			groups[step.Group] = i
		}
		if with := plan(s, done, items, Shard{i, 3}); with.Done < p.Missing/2 || with.Missing != 0 {
			t.Errorf("shard %d is another with records: %d done, %d missing", i, with.Done, with.Missing)
		}
	}
	if seen != all.Missing || most > all.Seconds/2 {
		t.Errorf("three shards have %d of %d runs, the largest %.0f of %.0f s", seen, all.Missing, most, all.Seconds)
	}
	for _, bad := range []string{"0/2", "3/2", "1", "a/b", "1/2x", "-1/2"} {
		if _, err := ParseShard(bad); err == nil {
			t.Errorf("the shard %q was accepted", bad)
		}
	}
	if got, err := ParseShard("2/4"); err != nil || got != (Shard{2, 4}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestKeys(t *testing.T) {
	a := training("cora", 0, train.Default("gcn"))
	same := a
	if a.key() != same.key() || len(a.key()) != 64 {
		t.Errorf("keys %q and %q", a.key(), same.key())
	}
	for name, change := range map[string]func(x *Task){
		"split": func(x *Task) { x.Split = 1 }, "dataset": func(x *Task) { x.Dataset = "photo" }, "seed": func(x *Task) { x.Config.Seed = 1 },
		"kind": func(x *Task) { x.Kind = results.Bench }, "follow": func(x *Task) { x.Follow = &Follow{Layers: []int{1}} },
	} {
		b := a
		if change(&b); b.key() == a.key() {
			t.Errorf("another %s has the same key", name)
		}
	}
	if got := prune(plain(map[string]any{"a": 0, "b": "", "c": false, "d": map[string]any{"e": 0, "f": 1}, "split": 0, "g": nil})); fmt.Sprint(got) != "map[d:map[f:1] split:0]" {
		t.Errorf("got %v", got)
	}
}

func TestPairedT(t *testing.T) {
	// scipy.stats.ttest_rel([1.2, 2.1, 3.3, 4.6], [1, 2, 3, 4])
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
	if items, err = Choose([]string{"all"}); err != nil || len(items) != 12 {
		t.Errorf("got %d, %v", len(items), err)
	}
	if _, err = Choose([]string{"table7"}); err == nil || !strings.Contains(err.Error(), "table7") {
		t.Errorf("got %v", err)
	}
	if err := CheckChoice([]string{"cora"}, []string{"gcnn"}); err == nil {
		t.Error("the model gcnn was accepted")
	}
	if err := CheckChoice([]string{"coral"}, nil); err == nil {
		t.Error("the dataset coral was accepted")
	}
	if !slices.Contains(datasetNames(), "questions") {
		t.Error("questions is missing")
	}
}
