package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/report/echarts"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestRunPage trains a model, and writes the web page about this training. Then it trains again by the command that the
// page shows. Both trainings must have the same numbers.
func TestRunPage(t *testing.T) {
	dir := t.TempDir()
	file, page := filepath.Join(dir, "runs.sqlite"), filepath.Join(dir, "run.html")
	succeeds(t, with(quick, "train", "--dataset", tinyGraph, "--epochs", "4", "--splits", "2", "--seed", "3",
		"--no-bias", "--runs", file)...)
	records := func() (all []runs.Record) {
		succeeds(t, "runs", "list", "--runs", file, "--json").document(t, &all)
		return all
	}
	first := records()[0]
	if _, err := echarts.Source(); err == nil {
		c := command(t, "runs", "show", first.ID, "--html", page, "--runs", file, "--json")
		var told paged
		if path, err := echarts.Path(); err == nil {
			c.Env = append(c.Env, echarts.Variable+"="+path)
		}
		finish(t, c).document(t, &told)
		if text := string(read(t, page)); told != (paged{first.ID, page}) ||
			!strings.Contains(text, "To repeat it") || strings.Contains(text, "Not in this record") {
			t.Errorf("told %+v", told)
		}
	}
	fails(t, 2, "ends in .html", "runs", "show", first.ID, "--html", "run.pdf", "--runs", file)

	task, err := runs.TaskOf(&first)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := strings.CutPrefix(runs.Command(&first, task.Config), "revgnn ")
	again = strings.ReplaceAll(again, "--runs runs.sqlite", "--runs "+file)
	succeeds(t, strings.Fields(again)...)
	all := records()
	if len(all) != 2 || all[1].Key != first.Key || string(all[1].Config) != string(first.Config) {
		t.Fatalf("%s made %+v, not a run like %+v", again, all[1], first)
	}
	var o [2]train.Result
	for i, r := range all {
		decode(t, r.Outcome, &o[i])
	}
	if o[0].Val != o[1].Val || o[0].Test != o[1].Test || o[0].BestEpoch != o[1].BestEpoch {
		t.Errorf("%s gives %+v, not %+v", again, o[1], o[0])
	}
	succeeds(t, "runs", "rerun", first.ID, "--runs", file) // details are no numbers to compare
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}
