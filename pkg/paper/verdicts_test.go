package paper

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// plainRules returns the profile quick with two changes: it has all datasets, and only one candidate for every model.
func plainRules(t *testing.T) Profile {
	t.Helper()
	p := Quick()
	p.Chosen, p.Repeated = nil, nil
	p.Datasets, p.LeftOut = runs.Datasets(), nil
	p.Rules = rules(t, `[{"settings": {"hidden": 8, "epochs": 10}, "depths": [{"forward": 2, "reverse": 2}]}]`)
	return p
}

// seeded returns the profile with three seeds on each split for the paper's own models.
func seeded(p Profile) Profile {
	p.Repeated = []runs.Repeated{{Models: []string{"gcn", "gcn+rep", "gat", "gat+rep", "grand", "grand+rep"},
		Seeds: 3}}
	return p
}

// verdictOf returns the judgement of the case with the given ID. It makes no runs: the function outcome makes up the
// outcome of each task. If outcome returns nil, the run counts as diverged.
func verdictOf(t *testing.T, p Profile, id string, outcome func(runs.Task) any) Judgement {
	t.Helper()
	s := runs.Scope{Profile: p.Profile}
	decided := func(v *View) (found []Judgement) {
		for _, c := range paperClaims().Claims {
			if strings.SplitN(id, "/", 2)[0] != c.ID {
				continue
			}
			for _, one := range c.cases(v) {
				if c.id(one) == id {
					found = append(found, v.decide(c, one))
				}
			}
		}
		return found
	}
	records := runsOf(t, s, func(v *runs.View) { decided(&View{v, p}) },
		func(task runs.Task) *runs.Record { return recorded(t, task, outcome(task)) })
	none, all := decided(&View{runs.NewView(s, nil), p}), decided(&View{runs.NewView(s, records), p})
	if len(all) != 1 {
		t.Fatalf("%d claims are called %s", len(all), id)
	}
	if none[0].Verdict != NotRun || len(none[0].Records) > 0 || none[0].Ours != nil || none[0].P != nil {
		t.Errorf("%s without runs: %+v", id, none[0])
	}
	j := all[0]
	if j.Verdict != NotRun && len(j.Records) == 0 || strings.Contains(j.Says, "{") {
		t.Errorf("%s: %q, %q, with the records %q", id, j.Says, j.Numbers, j.Records)
	}
	return j
}

// scoring returns the outcome of a training with the given test metric, in percent.
func scoring(percent float64) any {
	return runs.Trained{Result: train.Result{Val: 0.5, Test: train.Number(percent / 100), Status: train.OK}}
}

// around returns mean - distance for split 0, mean for split 1 and mean + distance for split 2.
func around(task runs.Task, mean, distance float64) float64 {
	return mean + distance*float64(task.Split-1)
}

func TestVerdictsOfCells(t *testing.T) {
	p := plainRules(t)
	for _, c := range []struct {
		id     string
		mean   float64
		want   Verdict
		degree string
	}{
		{"table2/gcn+rep/minesweeper", 96.05 + 0.15, Reproduced, WithinOne},
		{"table2/gcn+rep/minesweeper", 96.05 - 0.15, Reproduced, WithinOne},
		{"table2/gcn+rep/minesweeper", 96.05 - 0.30, Weaker, WithinTwo},
		{"table2/gcn+rep/minesweeper", 96.05 + 0.30, Weaker, WithinTwo},
		{"table2/gcn+rep/minesweeper", 90, NotReproduced, Below},
		{"table2/gcn+rep/minesweeper", 99, NotReproduced, Above},
		{"table6/gcn/cora", 88.0, Reproduced, WithinOne},
	} {
		j := verdictOf(t, p, c.id, func(task runs.Task) any { return scoring(around(task, c.mean, 0.1)) })
		if j.Verdict != c.want || j.Degree != c.degree || j.Splits != 3 || j.Seeds != 1 || len(j.Records) != 3 ||
			j.Ours == nil || !strings.Contains(j.Numbers, "3 splits × 1 seed") {
			t.Errorf("%s at %g: %+v", c.id, c.mean, j)
		}
	}
}

func TestCellsOfFailedAndFewSplits(t *testing.T) {
	p := plainRules(t)
	const id = "table2/gcn/squirrel-filtered"
	p.Tried = 1
	j := verdictOf(t, p, id, func(task runs.Task) any {
		if task.Split == 2 {
			return nil
		}
		return scoring(39.47)
	})
	if j.Verdict != Weaker || !strings.Contains(j.Numbers, "split 2 diverged") {
		t.Errorf("of a split that diverged: %+v", j)
	}
	p.Tried = 3 // with one candidate, there is nothing to compare on these splits
	j = verdictOf(t, p, id, func(task runs.Task) any {
		if task.Split == 0 {
			return nil
		}
		return scoring(39.47)
	})
	if j.Verdict != Weaker || j.Ours == nil || !strings.Contains(j.Numbers, "split 0 diverged") {
		t.Errorf("of a first split that diverged: %+v", j)
	}
	j = verdictOf(t, p, id, func(runs.Task) any { return nil })
	if j.Verdict != NotReproduced || j.Ours != nil || !strings.Contains(j.Numbers, runs.AllBad) {
		t.Errorf("of splits that all diverged: %+v", j)
	}
	j = verdictOf(t, p, id, func(runs.Task) any { return refused{} })
	if j.Verdict != NotRun || !strings.Contains(j.Numbers, "split 2 failed (it needs 90 GiB of memory)") {
		t.Errorf("of splits for which the machine is too small: %+v", j)
	}
	p.Splits = []int{0, 1}
	rest := runs.Found{Bad: []string{"split 0 diverged"}, Missing: 9, Why: runs.NotYet}
	table2 := published[Performance]("table2")
	if f := (rule{Reproduced: 1, Weaker: 2}).cell(rest, *table2.row("gcn"), 0); f.verdict != NotRun ||
		!strings.Contains(fmt.Sprint(f.say["why"]), "split 0 diverged; not run yet") {
		t.Errorf("of a split that diverged, before the others were run: %+v", f)
	}
	j = verdictOf(t, p, id, func(runs.Task) any { return scoring(39.47) })
	if j.Verdict != NotRun || !strings.Contains(j.Numbers, "too few") {
		t.Errorf("of two splits: %+v", j)
	}
}

// TestBalancedRows: some rows of the paper's tables were published for class-balanced splits. The verdicts on the cells
// of these rows follow from our runs on class-balanced splits.
func TestBalancedRows(t *testing.T) {
	j := verdictOf(t, plainRules(t), "table6/mlp/cora", func(task runs.Task) any {
		if task.Dataset != "cora"+data.Balanced {
			t.Errorf("asked for a run on %s", task.Dataset)
		}
		return scoring(76.96)
	})
	if j.Verdict != Reproduced || !strings.Contains(j.Numbers, "class-balanced") {
		t.Errorf("got %+v", j)
	}
}

// gaining returns a function that makes up the outcomes of trainings. The test metric of a model without a reverse
// process is 80. With a reverse process, the test metric is 80 plus a gain. The keys of the argument gains are names of
// datasets or of models. Each value has the gains on splits 0, 1 and 2.
func gaining(gains map[string][3]float64) func(runs.Task) any {
	return func(task runs.Task) any {
		by, named := gains[task.Dataset]
		if !named {
			by = gains[task.Config.Model]
		}
		if !task.Config.HasReverse() {
			by = [3]float64{}
		}
		return scoring(80 + by[task.Split])
	}
}

func TestVerdictsOfGains(t *testing.T) {
	p := seeded(plainRules(t))
	for _, c := range []struct {
		id    string
		gains [3]float64
		want  Verdict
	}{
		{"gain/gcn+rep/minesweeper", [3]float64{6, 6.1, 5.9}, Reproduced},       // published: +6.30
		{"gain/gcn+rep/minesweeper", [3]float64{2, 2.1, 1.9}, Weaker},           // significant, but too small
		{"gain/gcn+rep/minesweeper", [3]float64{1, -0.5, 1}, NotReproduced},     // neither significant nor large enough
		{"gain/gcn+rep/minesweeper", [3]float64{-6, 18, 6}, Weaker},             // large enough, but not significant
		{"gain/gcn+rep/minesweeper", [3]float64{-3, 4, 1}, NotRun},              // the true gain might be large enough
		{"gain/gcn+rep/minesweeper", [3]float64{-3, 3, -1}, NotRun},             // the wrong sign, by chance perhaps
		{"gain/gcn+rep/minesweeper", [3]float64{-1, -2, -1}, NotReproduced},     // the wrong sign
		{"gain/gcn+rep/minesweeper", [3]float64{}, NotReproduced},               // no difference
		{"gain/grand+rep/amazon-ratings", [3]float64{-1, -1.1, -1}, Reproduced}, // published: −1.04
		{"gain/grand+rep/amazon-ratings", [3]float64{1, 1.1, 1}, NotReproduced},
		{"unchanged/gat+rep/photo", [3]float64{-1, 1.1, -1}, Reproduced},
		{"unchanged/gat+rep/photo", [3]float64{-1, -1.1, -1}, Weaker}, // small, but significant
		{"unchanged/gat+rep/photo", [3]float64{-5, 9, 2}, Weaker},
		{"unchanged/gat+rep/photo", [3]float64{-5, -5.1, -5}, NotReproduced},
		{"unchanged/gat+rep/photo", [3]float64{5, 5.1, 5}, Weaker}, // a significant change, but no harm
	} {
		dataset := c.id[strings.LastIndex(c.id, "/")+1:]
		j := verdictOf(t, p, c.id, gaining(map[string][3]float64{dataset: c.gains}))
		if j.Verdict != c.want || len(j.Records) != 18 {
			t.Errorf("%s by %v: %+v", c.id, c.gains, j)
		}
	}
}

// TestVerdictsOfFewSeeds: with one or two seeds on each split, differences between models and places of models are not
// judged. Their numbers are given all the same.
func TestVerdictsOfFewSeeds(t *testing.T) {
	for _, id := range []string{"gain/gcn+rep/minesweeper", "unchanged/gat+rep/photo", "place/gcn+rep/minesweeper"} {
		for seeds, want := range map[int]Verdict{1: NotRun, 2: NotRun, 3: Reproduced} {
			p := seeded(plainRules(t))
			p.Repeated[0].Seeds = seeds
			j := verdictOf(t, p, id, gaining(map[string][3]float64{"minesweeper": {6, 6.1, 5.9}, "photo": {-1, 1.1, -1}}))
			if j.Verdict != want || j.Ours == nil || (want == NotRun) != strings.Contains(j.Numbers, "a verdict needs 3") {
				t.Errorf("%s with %d seeds: %+v", id, seeds, j)
			}
		}
	}
}

// TestCellsSayTheirSeeds: the verdict on a cell says how much results with different seeds differ.
func TestCellsSayTheirSeeds(t *testing.T) {
	j := verdictOf(t, seeded(plainRules(t)), "table2/gcn+rep/minesweeper", func(task runs.Task) any {
		return scoring(96 + float64(task.Config.Seed)/1000) // 96, 97 and 98 on each split
	})
	if !strings.Contains(j.Numbers, "seeds on the same split differ by ±1.00") || j.Seeds != 3 {
		t.Errorf("%+v", j)
	}
}

func TestVerdictsOfBackbones(t *testing.T) {
	p := plainRules(t)
	up, more, down := [3]float64{1, 2, 1}, [3]float64{3, 4, 3}, [3]float64{-1, -2, -1}
	for _, c := range []struct {
		id    string
		gains map[string][3]float64
		want  Verdict
	}{
		{"improves", map[string][3]float64{"gcn+rep": up, "gat+rep": up, "grand+rep": up}, Reproduced},
		{"improves", map[string][3]float64{"gcn+rep": up, "gat+rep": up, "grand+rep": down}, Weaker},
		{"improves", map[string][3]float64{"gcn+rep": up, "gat+rep": down, "grand+rep": down}, NotReproduced},
		{"gcn-most/gcn+rep", map[string][3]float64{"gcn+rep": more, "gat+rep": up, "grand+rep": up}, Reproduced},
		{"gcn-most/gcn+rep", map[string][3]float64{"gcn+rep": up, "gat+rep": more, "grand+rep": up}, Weaker},
		{"gcn-most/gcn+rep", map[string][3]float64{"gcn+rep": down, "gat+rep": up, "grand+rep": up}, NotReproduced},
	} {
		if j := verdictOf(t, p, c.id, gaining(c.gains)); j.Verdict != c.want {
			t.Errorf("%s of %v: %+v", c.id, c.gains, j)
		}
	}
	// The runs of a model fail on one dataset. This dataset counts, but has no gain that could enter the average.
	j := verdictOf(t, p, "improves", func(task runs.Task) any {
		if task.Dataset == "minesweeper" && task.Config.Model == "gat+rep" {
			return nil
		}
		return gaining(map[string][3]float64{"gcn+rep": up, "gat+rep": up, "grand+rep": up})(task)
	})
	if !strings.Contains(j.Numbers, "on average) (runs diverged on 1)") {
		t.Errorf("of failed runs: %+v", j)
	}
	p.Datasets = p.Datasets[:3]
	if j := verdictOf(t, p, "improves", gaining(map[string][3]float64{"gcn+rep": up})); j.Verdict != NotRun ||
		!strings.Contains(j.Numbers, "needs 4 datasets") {
		t.Errorf("on three datasets: %+v", j)
	}
}

func TestVerdictsOfPlaces(t *testing.T) {
	p := seeded(plainRules(t))
	for _, c := range []struct {
		own, distance float64
		want          Verdict
	}{{90, 0.1, Reproduced}, {79, 3, Weaker}, {79, 0.1, NotReproduced}} {
		j := verdictOf(t, p, "place/gcn+rep/minesweeper", func(task runs.Task) any {
			if task.Config.Model == "gcn+rep" {
				return scoring(around(task, c.own, c.distance))
			}
			return scoring(80)
		})
		if j.Verdict != c.want || *j.Paper != 1 {
			t.Errorf("%g ± %g against 80: %+v", c.own, c.distance, j)
		}
	}
	// One model diverges on every split, and ranks last, also if it is the model of the claim. Or the machine is too
	// small for it, and nobody knows its rank.
	for _, c := range []struct {
		model   string
		outcome any
		want    Verdict
	}{{"gcn", nil, Reproduced}, {"gcn+rep", nil, NotReproduced}, {"gcn", refused{}, Weaker},
		{"gcn+rep", refused{}, NotRun}} {
		j := verdictOf(t, p, "place/gcn+rep/minesweeper", func(task runs.Task) any {
			if task.Config.Model == c.model {
				return c.outcome
			}
			return scoring(80)
		})
		if j.Verdict != c.want {
			t.Errorf("%s gives %v: %+v", c.model, c.outcome, j)
		}
	}
}

// TestPlacesOnSharedSplits: a model whose mean is better, but over easier splits, is not ahead.
func TestPlacesOnSharedSplits(t *testing.T) {
	p := seeded(plainRules(t))
	p.Splits = []int{0, 1, 2, 3}
	j := verdictOf(t, p, "place/gcn+rep/minesweeper", func(task runs.Task) any {
		switch {
		case task.Config.Model == "gcn+rep" && task.Split == 0:
			return scoring(60) // the mean over all four splits is 83.1
		case task.Config.Model == "gcn+rep":
			return scoring(91 - 0.1*float64(task.Split))
		case task.Config.Model == "gcn" && task.Split == 0:
			return nil
		case task.Config.Model == "gcn":
			return scoring(85)
		}
		return scoring(80)
	})
	if j.Verdict != Reproduced || *j.Ours != 1 {
		t.Errorf("got %+v", j)
	}
}

// TestDivergedWithReverseLayers: differences on the other splits are given with the number of splits that are left out.
func TestDivergedWithReverseLayers(t *testing.T) {
	plain := runs.Found{Tests: map[int]float64{0: 0.7, 1: 0.7, 2: 0.7}, Splits: []int{0, 1, 2}}
	with := runs.Found{Tests: map[int]float64{0: 0.8, 1: 0.9}, Splits: []int{0, 1, 2},
		Bad: []string{"split 2 diverged"}}
	table := report.Table{ID: "one", Title: "Gains", Corner: "", Columns: []report.Column{{Name: "gain"}},
		Rows: []report.Row{{Label: "Δ", Cells: []report.Cell{gain(with, plain, "none")}}}}
	if text := table.Text(); !strings.Contains(text, "+15.00") ||
		!strings.Contains(text, "without 1 split on which it diverged") {
		t.Errorf("got %s", text)
	}
	p := &Performance{Columns: []string{"cora"}, Rows: []PerformanceRow{{Name: "GCN", Model: "gcn"},
		{Name: "GCN+ReP", Model: "gcn+rep"}}}
	notes := behind(p, searches{{"gcn", "cora"}: plain, {"gcn+rep", "cora"}: with}, true)
	if len(notes) != 1 || !strings.Contains(notes[0], "not ahead") ||
		!strings.Contains(notes[0], "it diverged on 1 split") {
		t.Errorf("got %q", notes)
	}
}

func TestVerdictsOfDepth(t *testing.T) {
	p := plainRules(t)
	for _, c := range []struct {
		id   string
		of   func(layers int) float64
		want Verdict
	}{
		{"deep-reverse/gcn+rep/chameleon-filtered", func(l int) float64 { return float64(l) / 20 }, Reproduced},
		{"deep-reverse/gcn+rep/chameleon-filtered", func(l int) float64 { return 40 + float64(l%5+l/1024) }, Weaker},
		{"deep-reverse/gcn+rep/chameleon-filtered", func(l int) float64 { return 90 - float64(l)/20 }, NotReproduced},
		{"deep-reverse/gcn+rep/chameleon-filtered", func(int) float64 { return 40 }, NotReproduced},
		// On Minesweeper, the authors of the paper ran out of memory with more than 256 reverse layers. Results with
		// more layers do not count. Here the test metric rises up to 256 layers, and is 0 for 512 and 1024 layers.
		{"deep-reverse/gcn+rep/minesweeper", func(l int) float64 { return float64(l % 512) }, Reproduced},
		{"deep-forward/gcn+rep/chameleon-filtered", func(l int) float64 { return float64(l) / 20 }, Reproduced},
	} {
		j := verdictOf(t, p, c.id, func(task runs.Task) any {
			return scoring(c.of(max(task.Config.Forward, task.Config.Reverse)))
		})
		if j.Verdict != c.want {
			t.Errorf("%s: %+v", c.id, j)
		}
	}
}

// TestDepthsThatDiverged: with a training that diverged on one split, a claim about depth is weaker at best. If all
// trainings of a depth diverged, it is not reproduced.
func TestDepthsThatDiverged(t *testing.T) {
	p := plainRules(t)
	for splits, want := range map[int]Verdict{1: Weaker, 100: NotReproduced} {
		j := verdictOf(t, p, "deep-forward/gcn+rep/chameleon-filtered", func(task runs.Task) any {
			if task.Config.Forward == 512 && task.Split < splits {
				return nil
			}
			return scoring(float64(task.Config.Forward) / 20)
		})
		if j.Verdict != want || !strings.Contains(j.Numbers, "diverged") {
			t.Errorf("on %d splits: %+v", splits, j)
		}
	}
}

func TestSpearman(t *testing.T) {
	// The expected correlation is the result of scipy.stats.spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]). The two sevens
	// share the ranks 3 and 4, so that each has the rank 3.5.
	rho, p := spearman([]float64{1, 2, 3, 4, 5}, []float64{5, 6, 7, 8, 7})
	if !slices.Equal(ranks([]float64{5, 6, 7, 8, 7}), []float64{1, 2, 3.5, 5, 3.5}) || rho < 0.8207 || rho > 0.8208 ||
		p != 16./120 { // 16 of the 120 orders of y, listed by itertools.permutations, correlate at least as much
		t.Errorf("got %g, %g", rho, p)
	}
	if rho, p := spearman([]float64{1, 2, 3}, []float64{4, 5, 6}); rho < 0.9999 || p != 2./6 {
		t.Errorf("got %g, %g", rho, p)
	}
	// The expected correlation and p-value are the results of
	// scipy.stats.spearmanr(range(9), [0, 2, 1, 3, 4, 5, 6, 7, 8]).
	if rho, p := spearman([]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, []float64{0, 2, 1, 3, 4, 5, 6, 7, 8}); rho < 0.9833 ||
		rho > 0.9834 || p > 2e-6 || p < 1e-6 {
		t.Errorf("got %g, %g", rho, p)
	}
	if metrics.Mean(ranks([]float64{7, 7})) != 1.5 {
		t.Error("equal values do not share ranks")
	}
}

// TestDistance checks that a rounded distance is never on the other side of a limit.
func TestDistance(t *testing.T) {
	c := rule{Reproduced: 1, Weaker: 2}
	for apart, want := range map[float64]string{0.04: "0.0", 0.96: "1.0", 1: "1.0", 1.04: "1.04", 1.96: "2.0",
		2.028: "2.03", 2.004: "2.004", 15.3: "15.3"} {
		if text := c.distance(apart); text != want {
			t.Errorf("%g is %s, want %s", apart, text, want)
		}
	}
}
