package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/npz"
)

// settings holds arguments of the authors' program. A golden file (.npz) has results of this program. The JSON file of
// the same name has the arguments of these results.
type settings struct {
	Dataset   string  `json:"dataset"`
	Net       string  `json:"net"`
	Depth     int     `json:"depth"`
	Reverse   int     `json:"inv_depth"`
	Hidden    int     `json:"hidden_dim"`
	Heads     int     `json:"heads"`
	Norm      string  `json:"otptnorm"`
	Coeff     float64 `json:"coeff"`
	MaxIter   int     `json:"maxiter"`
	Threshold float64 `json:"converge_threshold"`
	Split     int     `json:"split"`
}

// arguments translates them into ours.
func (s settings) arguments() []string {
	model := map[string]string{"iresgcn": "gcn+rep", "resgcn": "gcn", "iresgat": "gat+rep"}[s.Net]
	norm := map[string]string{"None": "none", "LayerNorm": "layer"}[s.Norm]
	args := []string{"--dataset", s.Dataset, "--split", strconv.Itoa(s.Split), "--model", model,
		"--forward", strconv.Itoa(s.Depth), "--reverse", strconv.Itoa(s.Reverse), "--hidden", strconv.Itoa(s.Hidden),
		"--heads", strconv.Itoa(s.Heads), "--norm", norm}
	if s.Reverse == 0 {
		return args
	}
	return append(args, "--normalise", "reparametrise", "--lipschitz", strconv.FormatFloat(s.Coeff, 'g', -1, 64),
		"--max-iterations", strconv.Itoa(s.MaxIter), "--tolerance", strconv.FormatFloat(s.Threshold, 'g', -1, 64))
}

// TestPredictAgreesWithPyTorch compares the outputs and gradients of one evaluation with those of the authors'
// implementation, for several models and datasets.
func TestPredictAgreesWithPyTorch(t *testing.T) {
	golden, data := shared(t, "golden/models"), realData(t)
	for _, name := range []string{"gcn_chameleon", "gcn_minesweeper", "resgcn_chameleon", "gat_chameleon",
		"gat_minesweeper"} {
		for _, on := range enginetest.Names {
			t.Run(name+"/"+on, func(t *testing.T) {
				enginetest.Open(t, on) // skips where there is no plugin
				b, err := os.ReadFile(filepath.Join(golden, name+".json"))
				if err != nil {
					t.Fatal(err)
				}
				var s settings
				if err := json.Unmarshal(b, &s); err != nil {
					t.Fatal(err)
				}
				file, out := filepath.Join(golden, name+".npz"), filepath.Join(t.TempDir(), "o.npz")
				succeeds(t, append([]string{"predict", "--engine", on, "--data", data, "--weights", file,
					"--gradients", "--out", out, "--json"}, s.arguments()...)...)
				compare(t, out, file)
			})
		}
	}
}

// TestPredictRoundTrip trains a model, and then evaluates it by the command predict, with the weights that the training
// has saved.
func TestPredictRoundTrip(t *testing.T) {
	for _, settings := range [][]string{quickly("gcn+rep"), quickly("gcn"), with(quickly("gat+rep"), "--no-bias=true"),
		with(quick, "--normalise", "reparametrise", "--norm", "layer", "--head-layers", "2")} {
		dir := t.TempDir()
		out := filepath.Join(dir, "o.npz")
		succeeds(t, with(settings, "train", "--dataset", tinyGraph, "--epochs", "4", "--splits", "1", "--out", dir)...)
		var p prediction
		predict := with(settings, "predict", "--dataset", tinyGraph, "--split", "1", "--out", out, "--json")
		succeeds(t, with(predict, "--weights", filepath.Join(dir, "split1.safetensors"))...).document(t, &p)
		if p.Engine != "go" || p.Split != 1 || !(p.Loss > 0) || len(p.Arrays) != 3 {
			t.Errorf("got %+v", p)
		}
		z := opened(t, out)
		logits, shape, err := z.Float32s("logits", 1)
		if err != nil || shape[0] != 144 || len(logits) != 144 {
			t.Errorf("logits: %v, %v", shape, err)
		}
		loss, _, err := z.Float32s("loss", 0)
		if err != nil || math.Abs(float64(loss[0])-float64(p.Loss)) > 1e-6 {
			t.Errorf("loss: %v, %v, %v", loss, p.Loss, err)
		}
		empty(t, dir, "o.npz", "split1.checkpoint", "split1.json", "split1.safetensors", "result.json")
	}
}

// compare compares the file `got` with the golden file `want`, which has results of the authors' implementation. The
// relative error of each array, in the L2 norm, must be at most 1e-4 for an output, and at most 1e-3 for a gradient.
func compare(t *testing.T, got, want string) {
	t.Helper()
	a, b := opened(t, got), opened(t, want)
	outputs, gradients := 0.0, 0.0
	for _, name := range b.Names() {
		limit, own := 1e-4, strings.TrimPrefix(name, "out.")
		switch {
		case strings.HasPrefix(name, "grad."):
			limit, own = 1e-3, name
		case strings.HasPrefix(name, "param."):
			continue
		}
		w, shape, err := b.Float32s(name, npz.Any)
		if err != nil {
			t.Fatal(err)
		}
		g, _, err := a.Float32s(own, len(shape))
		if err != nil {
			t.Error(err)
			continue
		}
		e := relative(g, w)
		if strings.HasPrefix(name, "grad.") {
			gradients = max(gradients, e)
		} else {
			outputs = max(outputs, e)
		}
		if !(e <= limit) {
			t.Errorf("%s is %.2e off, the limit is %.0e", name, e, limit)
		}
	}
	t.Logf("outputs are within %.1e, gradients within %.1e", outputs, gradients)
}

func opened(t *testing.T, path string) *npz.File {
	t.Helper()
	z, err := npz.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { z.Close() })
	return z
}

// relative returns the relative error |a-b| / |b|, where |x| is the L2 norm of x. The error is infinite if a and b have
// different lengths.
func relative(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	difference, size := 0.0, 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		difference += d * d
		size += float64(b[i]) * float64(b[i])
	}
	return math.Sqrt(difference / size)
}
