package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestRuns records trainings, benchmarks and an inversion. Some of them end well, one diverges and one fails. The test
// then lists, shows, exports and imports the records, and makes one of the runs again.
func TestRuns(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "new", "runs.sqlite")
	tiny := []string{"--dataset", tinyGraph, "--engine", "go", "--hidden", "8", "--runs", file}
	forward := with(tiny, "--forward", "2", "--reverse", "2")
	succeeds(t, with([]string{"train", "--epochs", "3", "--splits", "1-2", "--out", dir}, forward...)...)
	// trains nothing
	succeeds(t, with([]string{"train", "--epochs", "3", "--splits", "1-2", "--out", dir, "--resume"}, forward...)...)
	fails(t, 1, "1 of 1 splits diverged",
		with([]string{"train", "--epochs", "30", "--splits", "0", "--lr", "1e30"}, forward...)...)
	succeeds(t, with([]string{"bench", "--epochs", "3"}, forward...)...)
	fails(t, 1, "dopri5 did not reach", with([]string{"bench", "--epochs", "3", "--model", "grand",
		"--solver", "dopri5", "--tol-scale", "0.1", "--max-evaluations", "9"}, tiny...)...)
	succeeds(t, with([]string{"invert", "--depth", "4", "--lipschitz", "0.5"}, tiny...)...)

	var all []runs.Record
	list := []string{"runs", "list", "--runs", file, "--json"}
	succeeds(t, list...).document(t, &all)
	var got []string
	for _, r := range all {
		got = append(got, r.Kind+" "+splitText(r.Split)+" "+r.Status)
	}
	if want := "train 1 ok, train 2 ok, train 0 diverged, bench – ok, bench – failed, " +
		"invert – ok"; strings.Join(got, ", ") != want {
		t.Fatalf("recorded %q, want %q", got, want)
	}
	var trained train.Result
	var config train.Config
	first := all[0]
	if err := json.Unmarshal(first.Outcome, &trained); err != nil || trained.Split != 1 || trained.Test <= 0 {
		t.Errorf("the outcome is %s, %v", first.Outcome, err)
	}
	if err := json.Unmarshal(first.Config, &config); err != nil || config.Hidden != 8 || config.HeadLayers != 1 {
		t.Errorf("the configuration is %s, %v", first.Config, err)
	}
	if first.Model != "gcn+rep" || first.Engine != "go" || first.Seed != 1 || len(first.Checksum) != 64 ||
		first.Checksum != all[5].Checksum || first.Seconds <= 0 || first.Versions["gomlx"] == "" {
		t.Errorf("got %+v", first)
	}

	var some []runs.Record
	succeeds(t, with(list, "--status", "diverged,failed")...).document(t, &some)
	if len(some) != 2 || some[0].ID != all[2].ID || some[1].ID != all[4].ID || some[0].Message == "" ||
		some[1].Message == "" {
		t.Errorf("got %+v", some)
	}
	table := succeeds(t, "runs", "list", "--runs", file).stdout
	for _, want := range []string{all[0].ID, "diverged", "s/epoch", "error ", "test 0."} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in %s", want, table)
		}
	}
	if text := succeeds(t, "runs", "show", all[5].ID, "--runs", file).stdout; !strings.Contains(text,
		`"mean_abs_error": `) || !strings.Contains(text, first.Checksum) || !strings.Contains(text, "processor family  ") {
		t.Errorf("got %s", text)
	}

	csv, other := filepath.Join(dir, "runs.csv"), filepath.Join(dir, "other.sqlite")
	var m moved
	succeeds(t, "runs", "export", csv, "--kind", "train", "--runs", file, "--json").document(t, &m)
	if m.Records != 3 {
		t.Errorf("got %+v", m)
	}
	for _, want := range []moved{{csv, other, 3, 0}, {csv, other, 0, 3}} {
		if succeeds(t, "runs", "import", csv, "--runs", other, "--json").document(t, &m); m != want {
			t.Errorf("got %+v, want %+v", m, want)
		}
	}

	var same runs.Repetition
	succeeds(t, "runs", "rerun", first.ID, "--runs", file, "--json").document(t, &same)
	if !same.Equal || same.Then.ID != first.ID || len(same.Numbers)+len(same.Circumstances) > 0 {
		t.Errorf("rerun gave %+v", same)
	}
	fails(t, 1, "its checksum is", "runs", "rerun", ofAnotherGraph(t, file, first), "--runs", file)
}

// TestRunsOfAKilledProcess checks what happens if a process was killed after it had saved the result of a split, but
// before it had recorded this result. A training with --resume must then add the record, and must add it only once.
func TestRunsOfAKilledProcess(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "runs.sqlite")
	train := with(quick, "train", "--dataset", tinyGraph, "--epochs", "2", "--splits", "0-1", "--out", dir)
	succeeds(t, train...)
	for range 2 {
		succeeds(t, with(train, "--resume", "--runs", file)...)
		var all []runs.Record
		succeeds(t, "runs", "list", "--runs", file, "--json").document(t, &all)
		if len(all) != 2 || all[1].Split != 1 || all[1].Status != runs.OK || len(all[1].Outcome) < 100 ||
			len(all[1].Config) < 100 {
			t.Errorf("recorded %+v", all)
		}
	}
}

// TestRunsRepair changes a number in the file of run records. SQLite does not notice the change, but the checksum of
// the record does not fit any more. The command `runs repair` must remove this record.
func TestRunsRepair(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.sqlite")
	succeeds(t, with(quick, "train", "--dataset", tinyGraph, "--epochs", "2", "--splits", "0-1", "--runs", file)...)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(b)
	// The text may be in the file several times, since SQLite leaves old copies of rows in unused parts of its file.
	// The last copy is the one in use.
	if at := bytes.LastIndex(changed, []byte(`"epochs":2`)); at >= 0 {
		changed[at+len(`"epochs":`)] = '3'
	}
	if err := os.WriteFile(file, changed, 0o666); err != nil || bytes.Equal(b, changed) {
		t.Fatal("nothing was changed", err)
	}
	fails(t, 1, "its checksum is wrong", "runs", "list", "--runs", file)
	var done repaired
	succeeds(t, "runs", "repair", "--runs", file, "--json").document(t, &done)
	var left []runs.Record
	succeeds(t, "runs", "list", "--runs", file, "--json").document(t, &left)
	if len(done.Removed) != 1 || len(left) != 1 || left[0].ID == done.Removed[0] {
		t.Errorf("removed %v, %d are left", done.Removed, len(left))
	}
}

func TestRunsFileFromTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "runs.sqlite")
	for _, args := range [][]string{with(quick, "train", "--dataset", tinyGraph, "--epochs", "2", "--splits", "0"),
		{"runs", "list"}} {
		c := command(t, args...)
		c.Env = append(c.Env, "REVGNN_RUNS="+file)
		if o := finish(t, c); o.code != 0 || !strings.Contains(o.stdout, "ok") {
			t.Errorf("exit status %d: %s%s", o.code, o.stdout, o.stderr)
		}
	}
	c := command(t, "runs", "list")
	c.Dir = dir // without records in out
	if o := finish(t, c); o.code != 1 || !strings.Contains(o.stderr, runs.DefaultFile) {
		t.Errorf("exit status %d: %s", o.code, o.stderr)
	}
}

func TestRunsFail(t *testing.T) {
	dir := t.TempDir()
	file, damaged := filepath.Join(dir, "runs.sqlite"), writeFile(t, "damaged.sqlite", []byte("no records"))
	bad := writeFile(t, "bad.jsonl", []byte("\n{}\n"))
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "choose one of list, show, rerun, export, import", []string{"runs"}},
		{2, "needs one argument, the ID of a run", []string{"runs", "show"}},
		{2, "needs one argument", []string{"runs", "export", "a.csv", "b.csv"}},
		{2, `--kind is "walk"`, []string{"runs", "list", "--kind", "walk"}},
		{2, `--status has "fine"`, []string{"runs", "list", "--status", "ok,fine"}},
		{2, "neither JSON lines nor CSV", []string{"runs", "import", "a.xlsx", "--runs", file}},
		{2, "neither JSON lines nor CSV", []string{"runs", "export", "a.xlsx", "--runs", file}},
		{1, "no run's ID is or starts with", []string{"runs", "show", "1a", "--runs", file}},
		{1, "line 2: id is", []string{"runs", "import", bad, "--runs", file}},
		{1, "is damaged", []string{"runs", "list", "--runs", damaged}},
		{1, "is damaged", with(quick, "train", "--dataset", tinyGraph, "--epochs", "2", "--runs", damaged)},
		{1, "is not a regular file", []string{"invert", "--dataset", tinyGraph, "--runs", dir}},
		{1, "not a directory", []string{"invert", "--dataset", tinyGraph,
			"--runs", filepath.Join(damaged, "runs.sqlite")}},
	} {
		if o := fails(t, c.code, c.want, c.args...); o.stdout != "" {
			t.Errorf("%q: stdout has %q", c.args, o.stdout)
		}
	}
	if b, err := os.ReadFile(damaged); err != nil || string(b) != "no records" {
		t.Errorf("the damaged file was changed: %q, %v", b, err)
	}
}

// ofAnotherGraph adds a copy of the record r to the file, with a wrong checksum of the graph, as if the run were on
// another graph. It returns the ID of the copy.
func ofAnotherGraph(t *testing.T, file string, r runs.Record) string {
	t.Helper()
	s, err := runs.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r.ID, r.Checksum = "", strings.Repeat("0", 64)
	id, err := s.Add(r)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
