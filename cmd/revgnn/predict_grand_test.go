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
	"github.com/revgnn/revgnn/pkg/train"
)

// diffusion holds the settings of a GRAND model under the names that the authors' program uses. A golden file (.npz)
// has results of the authors' program. The JSON file of the same name has the settings of these results.
type diffusion struct {
	Dataset      string  `json:"dataset"`
	Hidden       int     `json:"hidden_dim"`
	Time         float64 `json:"time"`
	ReverseTime  float64 `json:"inv_time"`
	Method       string  `json:"method"`
	Step         float64 `json:"step_size"`
	TolScale     float64 `json:"tol_scale"`
	Evaluations  int     `json:"max_nfe"`
	Heads        int     `json:"heads"`
	AttentionDim int     `json:"attention_dim"`
	Split        int     `json:"split"`
}

func (s diffusion) arguments() []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return []string{"--dataset", s.Dataset, "--split", strconv.Itoa(s.Split), "--model", "grand+rep",
		"--hidden", strconv.Itoa(s.Hidden), "--time", number(s.Time), "--reverse-time", number(s.ReverseTime),
		"--solver", s.Method, "--step", number(s.Step), "--tol-scale", number(s.TolScale),
		"--max-evaluations", strconv.Itoa(s.Evaluations), "--heads", strconv.Itoa(s.Heads),
		"--attention-dim", strconv.Itoa(s.AttentionDim)}
}

// TestPredictGRANDAgreesWithPyTorch compares the outputs and gradients of one evaluation with those of the authors'
// implementation, for each solver.
func TestPredictGRANDAgreesWithPyTorch(t *testing.T) {
	golden, data := shared(t, "golden/models"), realData(t)
	for _, c := range []struct {
		name               string
		outputs, gradients float64
	}{{"grand_euler_minesweeper", 1e-4, 1e-3}, {"grand_rk4_chameleon", 1e-4, 1e-3},
		{"grand_dopri5_chameleon", 1e-3, 5e-3}} {
		for _, on := range enginetest.Names {
			t.Run(c.name+"/"+on, func(t *testing.T) {
				enginetest.Open(t, on) // skips where there is no plugin
				b, err := os.ReadFile(filepath.Join(golden, c.name+".json"))
				if err != nil {
					t.Fatal(err)
				}
				var s diffusion
				if err := json.Unmarshal(b, &s); err != nil {
					t.Fatal(err)
				}
				file, out := filepath.Join(golden, c.name+".npz"), filepath.Join(t.TempDir(), "o.npz")
				succeeds(t, append([]string{"predict", "--engine", on, "--data", data, "--weights", file,
					"--gradients", "--out", out, "--json"}, s.arguments()...)...)
				compareWithin(t, out, file, c.outputs, c.gradients)
			})
		}
	}
}

// compareWithin compares the file `got` with the golden file `want`, which has results of the authors' implementation.
// The relative error of each array, in the L2 norm, must be at most the limit for outputs or the limit for gradients.
//
// The gradient of K.bias, the bias of the attention's keys, needs an exception. The bias adds the same number to the
// scores of all neighbours of a node. This does not change the softmax of the scores, so that the gradient is zero up
// to rounding. Its error is therefore divided by the norm of the gradient of K.weight, the weight of the keys.
func compareWithin(t *testing.T, got, want string, outputs, gradients float64) {
	t.Helper()
	a, b := opened(t, got), opened(t, want)
	read := func(z *npz.File, name string) []float32 {
		v, _, err := z.Float32s(name, npz.Any)
		if err != nil {
			t.Error(err)
		}
		return v
	}
	for _, name := range b.Names() {
		limit, own := outputs, strings.TrimPrefix(name, "out.")
		switch {
		case strings.HasPrefix(name, "grad."):
			limit, own = gradients, name
		case strings.HasPrefix(name, "param."):
			continue
		}
		w, g := read(b, name), read(a, own)
		e := relative(g, w)
		if strings.HasSuffix(name, "K.bias") {
			weight := read(b, strings.Replace(name, "bias", "weight", 1))
			e *= length(w) / length(weight)
		}
		if !(e <= limit) {
			t.Errorf("%s is %.2e off, the limit is %.0e", name, e, limit)
		}
		t.Logf("%s is within %.1e", name, e)
	}
}

func length(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// TestGRANDCommands calls the commands train, predict and bench with each solver, and the command invert with the
// default solver.
func TestGRANDCommands(t *testing.T) {
	dir := t.TempDir()
	for solver, evaluations := range map[string][2]float64{"euler": {8, 8}, "rk4": {32, 32}, "dopri5": {16, 200}} {
		settings := []string{"--solver", solver, "--time", "2", "--reverse-time", "2", "--step", "0.5", "--heads", "2",
			"--attention-dim", "4"}
		s := trainedSplits(t, "grand+rep", 0, with(settings, "--epochs", "3", "--splits", "0", "--out", dir)...)
		r := s.Splits[0]
		if r.Status != train.OK || s.Config.Value("solver") != solver || s.Config.Reverse != 0 ||
			s.Config.HeadLayers != 2 {
			t.Errorf("%s: %+v", solver, s)
		}
		if n := r.Iterations.Solve; n < evaluations[0] || n > evaluations[1] || r.Iterations.Adjoint <= 0 {
			t.Errorf("%s: %+v, want %v evaluations", solver, r.Iterations, evaluations)
		}
		var p prediction
		out := filepath.Join(dir, "o.npz")
		succeeds(t, with(with(quickly("grand+rep"), settings...), "predict", "--dataset", tinyGraph, "--weights",
			filepath.Join(dir, "split0.safetensors"), "--gradients", "--out", out, "--json")...).document(t, &p)
		if len(p.Arrays) != 3+11 {
			t.Errorf("%s: %v", solver, p.Arrays)
		}
		var b train.Benchmark
		succeeds(t, with(with(quickly("grand+rep"), settings...), "bench", "--dataset", tinyGraph, "--epochs", "2",
			"--json")...).document(t, &b)
		if b.EpochSeconds <= 0 || b.Iterations.Solve < evaluations[0] {
			t.Errorf("%s: %+v", solver, b)
		}
	}
	var i train.Inversion
	succeeds(t, "invert", "--dataset", tinyGraph, "--engine", "go", "--model", "grand+rep", "--hidden", "8",
		"--step", "0.1", "--json").document(t, &i)
	if i.Time != 3 || !(i.MeanAbsError < 1e-4) || len(i.Residual) != 0 {
		t.Errorf("got %+v", i)
	}
	if s := trainedSplits(t, "grand", 0, "--epochs", "2", "--splits", "0"); s.Config.Value("reverse-time") != nil {
		t.Errorf("plain GRAND: %+v", s.Config)
	}
}

// TestGRANDLimits checks settings with which GRAND cannot be computed. Some of them are refused before the training.
// With others, a solver needs too many evaluations, which shows only during the training or benchmark. The command must
// always fail, with an error message.
func TestGRANDLimits(t *testing.T) {
	base := with(quickly("grand+rep"), "train", "--dataset", tinyGraph, "--splits", "0", "--epochs", "3")
	for want, args := range map[string][]string{
		`solver is "rk5": choose euler`:       {"--solver", "rk5"},
		"time is -1":                          {"--time", "-1"},
		"step is 0":                           {"--step", "0"},
		"attention-dim is 16 with 3 heads":    {"--heads", "3"},
		"takes 80 evaluations, more than the": {"--time", "10", "--max-evaluations", "50"},
	} {
		fails(t, 2, want, with(base, args...)...)
	}
	short := []string{"--solver", "dopri5", "--tol-scale", "0.01", "--max-evaluations", "30"}
	fails(t, 1, "", with(base, short...)...)
	s := trainedSplits(t, "grand+rep", 1, with(short, "--epochs", "3", "--splits", "0")...)
	if r := s.Splits[0]; r.Status != train.Diverged ||
		!strings.Contains(r.Message, "within 30 evaluations: raise --tol-scale or --max-evaluations") {
		t.Errorf("got %+v", r)
	}
	fails(t, 1, "within 30 evaluations",
		with(with(quickly("grand"), "bench", "--dataset", tinyGraph, "--epochs", "2"), short...)...)
}
