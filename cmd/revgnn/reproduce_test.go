package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/report/echarts"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

func TestReproduceWrongUsage(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"nothing to reproduce given", nil},
		{`"table7" is neither a table nor a figure`, []string{"table7"}},
		{`unknown profile "slow"`, []string{"all", "--profile", "slow"}},
		{`shard is "3/2"`, []string{"all", "--shard", "3/2"}},
		{`splits "x"`, []string{"all", "--splits", "x"}},
		{"have no split 99: their splits are numbered 0 to 9", []string{"table2", "--splits", "0-99"}},
		{`"coral" is not a dataset of the paper`, []string{"all", "--datasets", "coral"}},
		{`unknown model "gnn"`, []string{"all", "--models", "gnn"}},
		{"--task is not a task", []string{"--task", "{"}},
		{"--time goes with --dry-run", []string{"all", "--time"}},
	} {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"reproduce", "--runs", filepath.Join(t.TempDir(), "runs.sqlite")}, c.args...),
			&stdout, &stderr)
		if code != 2 || !strings.Contains(stderr.String(), c.want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit %d, %q; want %q", c.args, code, stderr.String(), c.want)
		}
	}
}

// TestReproduceCannotDraw calls reproduce without ECharts, the library that draws the figures. The command must fail
// before it trains a model.
func TestReproduceCannotDraw(t *testing.T) {
	c := command(t, "reproduce", "fig1", "--profile", "paper", "--runs", filepath.Join(t.TempDir(), "runs.sqlite"),
		"--out", t.TempDir())
	c.Env = append(c.Env, echarts.Variable+"=missing.js")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Run(); c.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "figures cannot be drawn") ||
		strings.Contains(stderr.String(), "are to be made") {
		t.Errorf("%v: %s", err, stderr.String())
	}
}

// TestReproduceDryRun checks the plan that --dry-run shows. To make a plan, the command opens no engine, loads no
// dataset and makes no runs.
func TestReproduceDryRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.sqlite")
	var stdout, stderr bytes.Buffer
	if code := run([]string{"reproduce", "table6", "--models", "gcn", "--datasets", "questions,cora", "--splits",
		"0-4", "--dry-run", "--json", "--runs", file}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	var p runs.Plan
	if err := json.Unmarshal(stdout.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	if p.Missing+p.Done < 5 || len(p.Steps) != p.Missing+p.Done || p.Missing > 0 &&
		(p.Seconds == 0 && p.Unknown == 0 || p.Bytes == 0) {
		t.Errorf("got %+v", p)
	}
	for _, s := range p.Steps {
		// The plan may have other runs than those that the flags choose, but only if their records are among the
		// committed ones.
		if !s.Done && (s.Dataset != "cora" || s.Config.Model != "gcn" || s.Split > 4) {
			t.Errorf("the plan has %s", s.Task)
		}
	}
}

// TestReproduceDryRunSaysWhatIsNotKnown makes a plan for the profile `paper`, for which this machine has no recorded
// runs. The plan must say that the times are not known, how to measure them, and that more memory may be needed than it
// shows.
func TestReproduceDryRunSaysWhatIsNotKnown(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"reproduce", "fig4", "--profile", "paper", "--dry-run", "--runs",
		filepath.Join(t.TempDir(), "runs.sqlite")}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	for _, want := range []string{"not known", "add --time", "at least"} {
		if text := stdout.String(); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestPlanTable: the table of a plan lists only the runs that are not done. It says which settings are not chosen yet.
func TestPlanTable(t *testing.T) {
	on := func(split int) runs.Task { return runs.Training("cora", split, train.Default("gcn")) }
	p := runs.Plan{Done: 1, Steps: []runs.Step{{Task: on(0), Done: true}}}
	var text strings.Builder
	planTable(&text, p)
	if want := "1 done; no run is to be made\n"; text.String() != want {
		t.Errorf("got %q, want %q", text.String(), want)
	}
	p.Missing = 2
	p.Steps = append(p.Steps, runs.Step{Task: on(1)}, runs.Step{Task: on(2), Provisional: true})
	text.Reset()
	planTable(&text, p)
	for _, want := range []string{"split 1\t", "split 2 (settings not chosen yet)\t", "1 done, 2 to be made"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "split 0") {
		t.Errorf("a run that is done in\n%s", text.String())
	}
}

// TestReproduce makes the paper's table 5, the statistics of the datasets, for one dataset. It makes the table twice.
// The second time, the numbers are from the run record. The test needs a folder with the dataset, which the environment
// variable REVGNN_DATA names.
func TestReproduce(t *testing.T) {
	if os.Getenv("REVGNN_DATA") == "" {
		t.Skip("REVGNN_DATA is not set: no dataset to reproduce table 5 with")
	}
	dir := t.TempDir()
	args := []string{"reproduce", "table5", "--datasets", "chameleon-filtered", "--engine", "go", "--offline",
		"--runs", filepath.Join(dir, "runs.sqlite"), "--out", filepath.Join(dir, "paper")}
	for range 2 { // the second time, from the record
		var stdout, stderr bytes.Buffer
		if code := run(args, &stdout, &stderr); code != 0 {
			t.Fatalf("exit %d: %s", code, stderr.String())
		}
		for name, want := range map[string]string{"table5.md": "datasets at hand have the paper's statistics",
			"table5.csv": "890", "table5.tex": "8,854", "table5.html": "profile quick", "index.html": "table5.html"} {
			text, err := os.ReadFile(filepath.Join(dir, "paper", name))
			if err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q: %v", name, want, err)
			}
		}
	}
}
