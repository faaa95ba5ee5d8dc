package main

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// TestTrainedModelOnAnotherEngine trains models on XLA, with dropout and, if the model has it, batch normalisation.
// Another process then predicts with these models on the pure-Go engine. The logits and probabilities must differ by at
// most 1e-5 from those of the best epoch of the training.
func TestTrainedModelOnAnotherEngine(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	g, err := datasets.Load(t.Context(), tinyGraph, datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gcn+rep", "sage+rep", "gat+rep", "gcn", "acm-gcn"} {
		c := train.Default(name)
		c.Hidden, c.Dropout, c.Epochs = 8, 0.3, 30
		for _, setting := range []string{"norm=batch", "forward=2", "reverse=4"} {
			if key, value, _ := strings.Cut(setting, "="); c.Value(key) != nil {
				if err := c.Set(key, value); err != nil {
					t.Fatal(err)
				}
			}
		}
		r, err := train.Fit(t.Context(), e, g, 0, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := trained.New(g, c, e.Name, r)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		file, out := filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "p.npz")
		if err := m.Write(file); err != nil {
			t.Fatal(err)
		}
		var told predicted
		succeeds(t, "predict", "--engine", "go", "--dataset", tinyGraph, "--weights", file, "--out", out, "--json").
			document(t, &told)
		if told.Engine != "go" || told.About.Engine != engine.CPU || told.Model != name ||
			told.About.BestEpoch != r.BestEpoch {
			t.Errorf("%s: told %+v", name, told)
		}
		// With a flag for the comparison with PyTorch, the model is still that of the file.
		var compared prediction
		arguments := []string{"predict", "--engine", "go", "--dataset", tinyGraph, "--weights", file, "--split", "0",
			"--out", filepath.Join(dir, "compared.npz"), "--json"}
		if c.Value("heads") != nil {
			arguments = append(arguments, "--heads", "1") // which the model of predict's default does not have
		}
		succeeds(t, arguments...).document(t, &compared)
		if !maps.Equal(compared.Config.Values(), c.Resolved().Values()) {
			t.Errorf("%s: with --split 0, the settings are %+v", name, compared.Config)
		}
		z := opened(t, out)
		logits, _, err := z.Float32s("logits", 1)
		if err != nil {
			t.Fatal(err)
		}
		probabilities, shape, err := z.Float32s("probabilities", 2)
		if err != nil || shape[1] != 2 {
			t.Fatal(shape, err)
		}
		most := 0.0
		for i, v := range r.Logits {
			most = max(most, math.Abs(float64(v-logits[i])),
				math.Abs(1/(1+math.Exp(-float64(v)))-float64(probabilities[2*i+1])))
		}
		if !(most <= 1e-5) {
			t.Errorf("%s: logits or probabilities are %.1e off those of the best epoch", name, most)
		}
		judged, err := metrics.Select(logits, 1, g.Labels, g.Splits[0].Test)
		if err != nil {
			t.Fatal(err)
		}
		test, err := train.Metric(c, g).Of(judged, metrics.Even)
		if err != nil || math.Abs(test-float64(r.Test)) > 1e-9 {
			t.Errorf("%s: test ROC-AUC %v, was %v, %v", name, test, r.Test, err)
		}
		t.Logf("%s: best epoch %d of %d, within %.1e", name, r.BestEpoch, r.Epochs, most)
	}
}

// TestFlagsBesideATrainedFile: predict checks the values of flags together with the settings of the file, not with the
// defaults of the model. 3 heads divide the file's attention-dim of 24, but not the default of 16.
func TestFlagsBesideATrainedFile(t *testing.T) {
	dir := t.TempDir()
	succeeds(t, "train", "--engine", "go", "--dataset", tinyGraph, "--model", "grand", "--attention-dim", "24",
		"--epochs", "1", "--splits", "0", "--runs", filepath.Join(dir, "runs.sqlite"), "--out", dir)
	var compared prediction
	succeeds(t, "predict", "--engine", "go", "--dataset", tinyGraph, "--weights", filepath.Join(dir, "split0.safetensors"),
		"--heads", "3", "--out", filepath.Join(dir, "compared.npz"), "--json").document(t, &compared)
	if heads, dim := compared.Config.Heads, compared.Config.Value("attention-dim"); heads != 3 || dim != 24 {
		t.Errorf("%d heads and attention-dim %v, want 3 and 24", heads, dim)
	}
}

// TestPredictByTheFileAlone trains a model, and predicts with the file of the model, without any flags that describe
// the model. It checks the written table of probabilities, and the error messages for wrong arguments.
func TestPredictByTheFileAlone(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "split0.safetensors"), filepath.Join(dir, "p.csv")
	succeeds(t, with(quick, "train", "--dataset", tinyGraph, "--epochs", "3", "--splits", "0", "--out", dir)...)
	predict := []string{"predict", "--engine", "go", "--weights", file}
	o := succeeds(t, with(predict, "--dataset", "minesweeper-generated:rows=5,cols=4,seed=3", "--out", out)...)
	if !strings.Contains(o.stdout, "gcn+rep, trained on "+tinyGraph) {
		t.Errorf("got %s", o.stdout)
	}
	rows := strings.Split(strings.TrimSpace(string(read(t, out))), "\n")
	if len(rows) != 21 || rows[0] != "id,0,1" || !strings.HasPrefix(rows[20], "19,") {
		t.Errorf("got %d rows: %q … %q", len(rows), rows[0], rows[len(rows)-1])
	}
	fails(t, 1, "every node of "+tinyGraph+" has a class", with(predict, "--dataset", tinyGraph, "--out", out, "--unlabelled")...)
	some := t.TempDir()
	for name, text := range map[string]string{"nodes.csv": "id,label,a,b,c,d,e,f,g\nx,0,1,0,0,0,0,0,0\ny,,0,1,0,0,0,0,0\nz,1,0,0,1,0,0,0,0\n",
		"edges.csv": "source,target\nx,y\ny,z\n"} {
		if err := os.WriteFile(filepath.Join(some, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	succeeds(t, with(predict, "--dataset", some, "--out", out, "--unlabelled")...)
	if text := string(read(t, out)); !strings.HasPrefix(text, "id,0,1\ny,") || strings.Count(text, "\n") != 2 {
		t.Errorf("of the nodes without a class: %s", text)
	}
	folder := filepath.Dir(writeFile(t, "nodes.csv", []byte("id,x\na,1\nb,2\n")))
	fails(t, 1, "ends neither in .npz nor in .safetensors", "predict", "--engine", "go", "--weights", dir,
		"--dataset", tinyGraph, "--out", out)
	fails(t, 1, "has no edges.csv", with(predict, "--dataset", folder, "--out", out)...)
	fails(t, 2, "ends in .csv or .npz", with(predict, "--dataset", tinyGraph, "--out", "p.txt")...)
	fails(t, 2, "ends in .npz", with(predict, "--dataset", tinyGraph, "--out", "p.csv", "--gradients")...)
	fails(t, 2, "no dataset given", with(predict, "--out", out)...)
	golden := filepath.Join(shared(t, "golden/models"), "gcn_minesweeper.npz")
	fails(t, 1, "does not say what model its weights are of", "predict", "--weights", golden, "--dataset", tinyGraph, "--out", out)
}
