package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/models"
)

// Repetition compares the record of a run (Then) with the record of the same run made again (Now).
type Repetition struct {
	Then Record `json:"then"`
	Now  Record `json:"now"`
	// Equal tells that all numbers of the two outcomes are equal, to the last bit. Times and memory are not compared,
	// since they differ between any two runs.
	Equal bool `json:"equal"`
	// Numbers lists the numbers that differ between the results of the two runs. A number is named by its place in the
	// JSON object of the results, such as followed.forward[3].gsl. Circumstances lists what else differs between the
	// two runs, such as the engine, the machine or the version of Go. This may explain why the numbers differ.
	Numbers       []Change `json:"numbers,omitempty"`
	Circumstances []Change `json:"circumstances,omitempty"`
}

// Change is a value that differs between the records of two runs. Then is the value in the record of the first run. Now
// is the value in the record of the second run. If a record does not have the value, an empty text stands for it.
type Change struct {
	Name string `json:"name"`
	Then string `json:"then"`
	Now  string `json:"now"`
}

// measured lists the fields of a record's outcome (the results of the run) that hold times or amounts of memory. The
// values of these fields differ between any two runs, even if the runs do the same.
var measured = []string{"seconds", "epoch_seconds", "compile_seconds", "peak_rss_bytes", "predicted_bytes",
	"idle_rss_bytes"}

// TaskOf returns the task of a record, so that the run can be made again.
func TaskOf(r *Record) (Task, error) {
	kinds := []string{Train, Invert, Bench, Measure}
	if !slices.Contains(kinds, r.Kind) {
		return Task{}, fmt.Errorf("run %s is of the kind %s, which cannot be made again: give one of %s", r.ID, r.Kind,
			strings.Join(kinds, ", "))
	}
	t, err := taskOf(r)
	if err == nil && t.Config.Model != "" {
		t.Config = t.Config.Resolved()
		err = t.Config.Validate()
	}
	if err != nil {
		return t, fmt.Errorf("run %s cannot be made again: %w", r.ID, err)
	}
	return t, nil
}

// ThreadsOf returns the number of threads on which a run was computed. Early versions of revgnn did not record this
// number. For a record of these versions, ThreadsOf returns the number of cores of the machine that made the run, if the
// engine was XLA on the CPU. The results of other engines do not depend on this number, and ThreadsOf returns 0.
func ThreadsOf(r *Record) int {
	var o struct{ Threads int }
	if json.Unmarshal(r.Outcome, &o); o.Threads > 0 {
		return o.Threads
	}
	if !strings.HasPrefix(r.Engine, engine.CPU) {
		return 0
	}
	return r.Machine.Cores
}

// Rerun makes a recorded run again, and compares the two runs. The third argument is the record of the run. The fourth
// argument is the task of this record, which [TaskOf] returns. The record of the new run is not stored. Rerun returns
// an error if the new run has no results to compare, for example because it was interrupted. It also returns an error
// if the graph has changed since the recorded run.
func Rerun(ctx context.Context, p Place, then *Record, t Task) (*Repetition, error) {
	if sum := models.Seen(t.Config.Config, p.Graph).Checksum(); then.Checksum != "" && sum != then.Checksum {
		return nil, fmt.Errorf("the graph %s is not that of run %s any more: its checksum is %.12s…, and was %.12s…",
			t.Dataset, then.ID, sum, then.Checksum)
	}
	now, err := Execute(ctx, p, t)
	if err != nil {
		return nil, err
	}
	r := &Repetition{Then: *then, Now: now}
	if now.Status == Failed && then.Status != Failed {
		return nil, fmt.Errorf("run %s could not be made again: %s", then.ID, now.Message)
	}
	before, after := outcomeOf(then), outcomeOf(&now)
	maps.DeleteFunc(after, func(name string, _ any) bool { // ignore values that an earlier version did not record
		_, kept := before[name]
		return !kept
	})
	if r.Numbers, err = changes(before, after); err != nil {
		return nil, fmt.Errorf("run %s cannot be compared: %w", then.ID, err)
	}
	r.Equal = len(r.Numbers) == 0
	r.Circumstances, err = changes(circumstances(then), circumstances(&now))
	return r, err
}

// outcomeOf returns the values of a record that [Rerun] compares: the status of the run, and most of the values in the
// record's outcome (the results of the run).
func outcomeOf(r *Record) map[string]any {
	out := map[string]any{}
	if len(r.Outcome) > 0 {
		json.Unmarshal(r.Outcome, &out) // cannot fail: the outcome of a record is a JSON object
	}
	// These values are left out. Times and amounts of memory (named in the list measured) differ between any two runs.
	// The number of threads and the engine are not results; the function circumstances returns them. The details of a
	// training ([train.Details]) serve only to show the training on an HTML page. The settings in the outcome of a
	// benchmark are no results, and later versions of revgnn have others.
	for _, name := range slices.Concat(measured, []string{"threads", "engine", "details", "config"}) {
		delete(out, name)
	}
	out["status"] = r.Status
	return out
}

// circumstances returns what the results of a run may depend on besides its task: the engine, the number of threads,
// the versions of the software, and the machine.
func circumstances(r *Record) map[string]any {
	out := map[string]any{"engine": r.Engine, "commit": r.Commit, "platform": r.Machine.Platform,
		"processor": r.Machine.CPU}
	for _, p := range r.Machine.Processor() {
		out[p[0]] = p[1]
	}
	if n := ThreadsOf(r); n > 0 {
		out["threads"] = n
	}
	if r.Machine.GPU != "" {
		out["GPU"] = r.Machine.GPU
	}
	for name, version := range r.Versions {
		if name != "revgnn" { // the commit says more exactly which version it was
			out["version of "+name] = version
		}
	}
	return out
}

// changes compares two JSON objects, and returns the values that differ between them.
func changes(then, now map[string]any) ([]Change, error) {
	a, b := map[string]string{}, map[string]string{}
	for _, side := range []struct {
		of   map[string]any
		flat map[string]string
	}{{then, a}, {now, b}} {
		text, err := json.Marshal(side.of)
		if err != nil {
			return nil, err
		}
		var plain any
		if err := json.Unmarshal(text, &plain); err != nil {
			return nil, err
		}
		flatten(side.flat, "", plain)
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	var out []Change
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] != b[name] {
			out = append(out, Change{name, a[name], b[name]})
		}
	}
	return out, nil
}

// flatten adds all numbers, texts and other single values inside the JSON value v to the map out. The key of a single
// value is its place in the whole JSON object, such as followed.forward[3].gsl. The argument at is the place of v.
func flatten(out map[string]string, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			name := key
			if at != "" {
				name = at + "." + key
			}
			flatten(out, name, value)
		}
	case []any:
		for i, value := range v {
			flatten(out, at+"["+strconv.Itoa(i)+"]", value)
		}
	case float64:
		out[at] = strconv.FormatFloat(v, 'g', -1, 64)
	default:
		out[at] = fmt.Sprint(v)
	}
}
