package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// repetition trains a model for a few epochs, with dropout if the model has it. It returns what must be the same when
// the training is repeated: the JSON document without times and memory, and the content of the file of weights. If
// `prefix` is not empty, it is put before the command: "taskset -c 0", for example, allows the command to use only one
// core.
func repetition(t *testing.T, prefix []string, model string, more ...string) (result, weights string) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"train", "--dataset", "minesweeper-generated:rows=60,cols=60", "--model", model, "--epochs", "3",
		"--splits", "0", "--seed", "7", "--json", "--quiet", "--out", dir}
	if train.Default(model).Values()["dropout"] != nil {
		args = append(args, "--dropout", "0.5")
	}
	c := command(t, append(args, more...)...)
	if len(prefix) > 0 {
		path, err := exec.LookPath(prefix[0])
		if err != nil {
			t.Skipf("needs %s", prefix[0])
		}
		c.Path, c.Args = path, append(slices.Clone(prefix), c.Args...)
	}
	o := finish(t, c)
	if o.code != 0 {
		t.Fatalf("%s ended with %d: %s", model, o.code, o.stderr)
	}
	var summary map[string]any
	o.document(t, &summary)
	split := summary["splits"].([]any)[0].(map[string]any)
	for _, name := range []string{"seconds", "epoch_seconds", "compile_seconds", "peak_rss_bytes", "predicted_bytes"} {
		delete(split, name)
	}
	b, err := json.Marshal(summary)
	if err != nil {
		t.Fatal(err)
	}
	w, err := os.ReadFile(filepath.Join(dir, "split0.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), string(w)
}

// TestRepetition makes the same training four times on XLA: on one core and on all cores, each with one thread and with
// two threads. Trainings with the same number of threads must have the same results and weights, byte for byte. If the
// environment variable REVGNN_TEST_REPEAT is set, the test trains all models, and also uses the pure-Go engine, for
// which all four trainings must have the same weights.
func TestRepetition(t *testing.T) {
	names, engines := []string{"gcn+rep", "gat"}, []string{engine.CPU}
	if os.Getenv("REVGNN_TEST_REPEAT") != "" {
		names, engines = models.Names(), append(engines, engine.Go)
	}
	if engine.Plugins()["cpu"] == "" {
		t.Skip("needs the XLA CPU plugin")
	}
	oneCore := []string{"taskset", "-c", "0"}
	if runtime.NumCPU() < 2 {
		t.Skip("needs two cores")
	}
	for _, e := range engines {
		for _, model := range names {
			t.Run(e+"/"+model, func(t *testing.T) {
				cases := []struct {
					name   string
					prefix []string
					args   []string
				}{
					{"one core", oneCore, nil},
					{"one thread on all cores", nil, []string{"--threads", "1"}},
					{"two threads", nil, []string{"--threads", "2"}},
					{"two threads on one core", oneCore, []string{"--threads", "2"}},
				}
				var results, weights [4]string
				for i, c := range cases {
					results[i], weights[i] = repetition(t, c.prefix, model, append(c.args, "--engine", e)...)
				}
				for _, pair := range [][2]int{{0, 1}, {2, 3}} {
					a, b := pair[0], pair[1]
					if results[a] != results[b] {
						t.Errorf("%s: %s\n%s: %s", cases[a].name, results[a], cases[b].name, results[b])
					}
					if weights[a] != weights[b] {
						t.Errorf("weights differ between %s and %s", cases[a].name, cases[b].name)
					}
				}
				if e == engine.Go && weights[0] != weights[2] {
					t.Errorf("the number of cores counts on the engine %s", e)
				}
			})
		}
	}
}
