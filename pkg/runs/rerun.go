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
)

// Repetition compares the record of a run with that of the same run made again.
type Repetition struct {
	Then Record `json:"then"`
	Now  Record `json:"now"`
	// Equal says that all numbers are equal to the last bit. Times and memory are not compared.
	Equal bool `json:"equal"`
	// Numbers are named by their place in the JSON of the results, such as followed.forward[3].gsl. Circumstances are
	// what else differs, such as the engine, the machine or the version of Go, and may explain it.
	Numbers       []Change `json:"numbers,omitempty"`
	Circumstances []Change `json:"circumstances,omitempty"`
}

// Change is a value that differs, or that one of the records lacks: "".
type Change struct {
	Name string `json:"name"`
	Then string `json:"then"`
	Now  string `json:"now"`
}

// measured lists the fields of an outcome with times or memory, which differ between any two runs.
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

// ThreadsOf returns the number of threads on which a run was computed; 0 if results do not depend on it. Early versions
// did not record it: for XLA on the CPU, it was the number of cores.
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

// Rerun makes a recorded run again, and compares the two. The task is that of [TaskOf]. The new record is not stored.
// It returns an error if the new run has no results to compare, or if the graph has changed.
func Rerun(ctx context.Context, x Executor, then *Record, t Task) (*Repetition, error) {
	if sum := t.Config.InputGraph(x.Graph).Checksum(); then.Checksum != "" && sum != then.Checksum {
		return nil, fmt.Errorf("the graph %s is not that of run %s any more: its checksum is %.12s…, and was %.12s…",
			t.Dataset, then.ID, sum, then.Checksum)
	}
	now, err := x.Execute(ctx, t)
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
	r.Numbers, r.Circumstances = changes(before, after), changes(circumstances(then), circumstances(&now))
	r.Equal = len(r.Numbers) == 0
	return r, nil
}

func outcomeOf(r *Record) map[string]any {
	out := map[string]any{}
	if len(r.Outcome) > 0 {
		json.Unmarshal(r.Outcome, &out) // cannot fail: the outcome of a record is a JSON object
	}
	// Threads and engine are circumstances. Details and measures only serve the HTML page. The settings in the outcome
	// of a benchmark are no results, and later versions have others.
	for _, name := range slices.Concat(measured, []string{"threads", "engine", "details", "measures", "config"}) {
		delete(out, name)
	}
	out["status"] = r.Status
	return out
}

// circumstances returns what results may depend on besides the task.
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

func changes(then, now map[string]any) (out []Change) {
	a, b := map[string]string{}, map[string]string{}
	flatten(a, "", then)
	flatten(b, "", now)
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] != b[name] {
			out = append(out, Change{name, a[name], b[name]})
		}
	}
	return out
}

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
