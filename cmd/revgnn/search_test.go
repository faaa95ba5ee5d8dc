package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/search"
	"github.com/revgnn/revgnn/pkg/train"
)

// searches returns the arguments of a short search, which keeps its run records in the folder dir.
func searches(dir string, more ...string) []string {
	return with([]string{"search", "--dataset", tinyGraph, "--engine", "go", "--model", "gcn", "--hidden", "8",
		"--forward", "2", "--json", "--runs", filepath.Join(dir, "runs.sqlite")}, more...)
}

// TestSearch makes a small search, and then the same search again. The second search must take all its results from the
// records of the first. Only the chosen settings may be tested, and only if --evaluate asks for it.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	args := searches(dir, "--epochs", "9", "--trials", "4", "--splits", "0-1", "--save",
		filepath.Join(dir, "chosen.json"))
	o := succeeds(t, args...)
	var first, again searched
	o.document(t, &first)
	if first.Engine != "go" || len(first.Trials) != 4 || !first.Complete || first.Best.Val != first.Best.Val ||
		len(first.Records) < 8 || first.Config.Model != "gcn" || first.Config.Hidden != 8 || first.Saved == "" {
		t.Errorf("%+v", first)
	}
	if first.Best.Settings["hidden"] != nil || len(first.Best.Settings["lr"]) == 0 {
		t.Errorf("searched were %s", search.Describe(first.Best.Settings))
	}
	if strings.Contains(o.stdout, `"test"`) || !strings.Contains(o.stderr, "the search is complete") {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
	o = succeeds(t, with(args, "--evaluate", "0-2")...)
	o.document(t, &again)
	if !slices.Equal(again.Records, first.Records) || again.Evaluation == nil || len(again.Evaluation.Splits) != 3 ||
		strings.Count(o.stdout, `"test"`) != 3 {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
	s, err := runs.OpenExisting(filepath.Join(dir, "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	of, err := s.Find(runs.Query{Kind: runs.Search, Profile: first.Search})
	if err != nil || len(of) != len(first.Records) {
		t.Errorf("%d records, %v", len(of), err)
	}
	list := succeeds(t, "runs", "list", "--kind", "search", "--runs", filepath.Join(dir, "runs.sqlite"))
	if !strings.Contains(list.stdout, "validation 0.") {
		t.Errorf("%s", list.stdout)
	}
}

// TestTestedSplits checks that the text about the test results says over how many splits the mean is, and which splits
// are left out.
func TestTestedSplits(t *testing.T) {
	e := &search.Evaluation{Mean: 0.5, Std: 0.25, Splits: []search.Evaluated{{Split: 0, Status: runs.OK},
		{Split: 3, Status: runs.Diverged}, {Split: 4, Status: runs.OK}, {Split: 5, Status: runs.Failed},
		{Split: 6, Status: runs.OK, Test: train.Number(math.NaN())}}} // split 6 has no test nodes
	want := "0.5000 ± 0.2500 (2 splits; sample standard deviation); left out: split 3 diverged, split 5 failed"
	if got := tested(e); got != want {
		t.Errorf("%s", got)
	}
	e.Splits = e.Splits[1:3]
	if got := tested(e); got != "0.5000 (one split); left out: split 3 diverged" {
		t.Errorf("%s", got)
	}
	e.Splits = e.Splits[:1]
	if got := tested(e); got != "none; left out: split 3 diverged" {
		t.Errorf("%s", got)
	}
}

// TestSearchIsInterrupted ends a long search by a signal. The same command must then go on with this search.
func TestSearchIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	long := func() outcome {
		return interrupted(t, command(t, searches(dir, "--epochs", "1000000", "--patience", "0", "--trials", "2",
			"--dropout", "0")...), syscall.SIGTERM)
	}
	first := long()
	if first.code != 143 || !strings.Contains(first.stderr, "goes on from here") {
		t.Fatalf("exit status %d: %s", first.code, first.stderr)
	}
	if second := long(); second.code != 143 || !strings.Contains(second.stderr, "going on after epoch") {
		t.Errorf("exit status %d: %s", second.code, second.stderr)
	}
}

func TestSearchWrongUsage(t *testing.T) {
	dir := t.TempDir()
	space := filepath.Join(dir, "space.json")
	if err := os.WriteFile(space, []byte(`{"name": "a", "rules": [{"settings": {"speed": {"log": [1, 2]}}}]}`),
		0o644); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"give --trials, --hours, or both": {}, "reduction is 1": {"--trials", "1", "--reduction", "1"},
		"no setting of gcn that is not given": {"--trials", "1", "--lr", "0.1", "--dropout", "0", "--weight-decay", "0"},
		"trials is -1":                        {"--trials", "-1"},
		"hours is -1":                         {"--hours", "-1"},
		"hours is NaN":                        {"--hours", "NaN"},
		"min-epochs is 11":                    {"--trials", "1", "--epochs", "10", "--min-epochs", "11"},
		"the first 50 epochs of cpgnn are": {"--model", "cpgnn", "--trials", "1", "--epochs", "60",
			"--min-epochs", "9"},
		`splits "x"`:                     {"--trials", "1", "--splits", "x"},
		`splits "y"`:                     {"--trials", "1", "--evaluate", "y"},
		"has no split 99":                {"--trials", "1", "--evaluate", "99"},
		`there is no space "nowhere"`:    {"--trials", "1", "--space", "nowhere"},
		`no model has a setting "speed"`: {"--trials", "1", "--space", space},
		"no setting \"reverse\"":         {"--trials", "1", "--reverse", "2"},
		"checkpoint-every is 0s":         {"--trials", "1", "--checkpoint-every", "0s"},
	} {
		fails(t, 2, want, searches(dir, args...)...)
	}
}
