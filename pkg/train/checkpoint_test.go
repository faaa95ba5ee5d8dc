package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
)

// ongoing returns configurations of trainings that end by early stopping. They are chosen so that resuming them needs
// all that a checkpoint contains. Dropout needs the state of the random numbers. Batch normalisation needs the running
// means and variances. The model cpgnn has pretraining: in the first epochs, only a part of it is trained. Some of the
// models need a second program for evaluation. For the others, the logits of the training step are enough.
func ongoing() map[string]Config {
	all := map[string]Config{}
	for name, set := range map[string]func(*Config){
		"gcn+rep": func(c *Config) { c.Norm, c.Dropout = "batch", 0.3 },
		"gat+rep": func(c *Config) { c.Dropout, c.Lipschitz, c.WeightDecay = 0, 0.5, 1e-3 },
		"cpgnn":   func(c *Config) { c.Set("pretrain", "5"); c.Dropout = 0.4 },
	} {
		c := small(name)
		c.Epochs, c.Patience, c.LearningRate, c.Seed = 24, 9, 0.05, 3
		set(&c)
		all[name] = c
	}
	return all
}

// same checks that two results are equal bit for bit. It does not compare times and memory.
func same(t *testing.T, what string, got, want *Result) {
	t.Helper()
	plain := func(r *Result) (Result, []Epoch) {
		p, history := *r, append([]Epoch{}, r.History...)
		p.Began, p.Seconds, p.EpochSeconds, p.CompileSeconds, p.PeakRSS, p.PredictedBytes = time.Time{}, 0, 0, 0, 0, 0
		p.History, p.Logits, p.Weights = nil, nil, nil
		for i := range history {
			history[i].Seconds = 0
		}
		return p, history
	}
	g, gh := plain(got)
	w, wh := plain(want)
	if fmt.Sprint(g) != fmt.Sprint(w) || fmt.Sprint(gh) != fmt.Sprint(wh) {
		t.Errorf("%s: got  %+v\n%v\nwant %+v\n%v", what, g, gh, w, wh)
	}
	bits := func(values []float32) []uint32 {
		out := make([]uint32, len(values))
		for i, v := range values {
			out[i] = math.Float32bits(v)
		}
		return out
	}
	if !reflect.DeepEqual(bits(got.Logits), bits(want.Logits)) || len(got.Weights) != len(want.Weights) {
		t.Errorf("%s: other logits", what)
	}
	for name, a := range want.Weights {
		if b := got.Weights[name]; !reflect.DeepEqual(bits(a.Values), bits(b.Values)) ||
			!slices.Equal(a.Shape, b.Shape) {
			t.Errorf("%s: other weights %s", what, name)
		}
	}
}

// broken runs a training with a checkpoint, interrupts the training after the given epoch, and returns its result.
func broken(t *testing.T, e *engine.Engine, g *graphs.Graph, c Config, k *Checkpoint, after int) *Result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := Fit(ctx, e, g, 0, c, &Options{Checkpoint: k, Epoch: func(at Epoch) {
		if at.Epoch == after {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBrokenEqualsUnbroken interrupts trainings and resumes them, in five ways. In four of them, a training is
// interrupted once, early or late. In the fifth, it is interrupted four times. The result must always equal that of the
// same training without interruption.
func TestBrokenEqualsUnbroken(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		g := board(t, 10)
		for model, c := range ongoing() {
			whole := fitted(t, e, g, c)
			if whole.Epochs < 8 || whole.Status != OK {
				t.Fatalf("%s: %d epochs are too few to break off in, %s", model, whole.Epochs, whole.Message)
			}
			for _, breaks := range [][]int{{1}, {5}, {min(whole.BestEpoch, whole.Epochs-2)}, {whole.Epochs - 2},
				{2, 4, 5, 7}} {
				k := &Checkpoint{Path: filepath.Join(t.TempDir(), "state"), Every: time.Hour}
				for _, after := range breaks {
					r := broken(t, e, g, c, k, after)
					if r.Status != Interrupted || r.Epochs < after || r.Epochs > after+1 {
						t.Fatalf("%s: %s after %d epochs, not %d", model, r.Status, r.Epochs, after)
					}
				}
				same(t, fmt.Sprint(model, " broken after ", breaks), resumed(t, e, g, c, k, "going on after epoch"),
					whole)
			}
		}
	})
}

// TestPaused pauses trainings after 2, 3 and 6 epochs, and resumes them. At each pause, the best validation metric must
// be that of an uninterrupted training after as many epochs. At the end, the result must equal that of the
// uninterrupted training.
func TestPaused(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	g := board(t, 10)
	for model, c := range ongoing() {
		whole := fitted(t, e, g, c)
		k := &Checkpoint{Path: filepath.Join(t.TempDir(), "state"), Every: time.Hour}
		for _, until := range []int{2, 3, 6} {
			r, err := Fit(t.Context(), e, g, 0, c, &Options{Checkpoint: k, Until: until})
			if err != nil {
				t.Fatal(err)
			}
			best := whole.History[until-1].BestVal
			if r.Status != Paused || r.Epochs != until || fmt.Sprint(r.Val) != fmt.Sprint(best) {
				t.Errorf("%s: %s after %d epochs with %v, want %d and %v", model, r.Status, r.Epochs, r.Val, until, best)
			}
		}
		same(t, model+" paused", resumed(t, e, g, c, k, "going on after epoch 6"), whole)
	}
}

// resumed runs a training to its end, and gives it the checkpoint k. The training must call [Options].Notice exactly
// once, with a message that contains the text want.
func resumed(t *testing.T, e *engine.Engine, g *graphs.Graph, c Config, k *Checkpoint, want string) *Result {
	t.Helper()
	var told []string
	notice := func(text string) { told = append(told, text) }
	r, err := Fit(t.Context(), e, g, 0, c, &Options{Checkpoint: k, Notice: notice})
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || !strings.Contains(told[0], want) {
		t.Errorf("told %q, want %q", told, want)
	}
	return r
}

// TestCheckpointNow keeps copies of the checkpoints that a training writes while it runs, and resumes the training from
// three of them. (A process that is killed leaves such a checkpoint.) The result must equal that of the first training,
// which ran without interruption.
func TestCheckpointNow(t *testing.T) {
	e, g, c := enginetest.Open(t, engine.Go), board(t, 8), ongoing()["gcn+rep"]
	k := &Checkpoint{Path: filepath.Join(t.TempDir(), "state"), Every: 1}
	var kept [][]byte
	whole, err := Fit(t.Context(), e, g, 0, c, &Options{Checkpoint: k, Epoch: func(Epoch) {
		if b, err := os.ReadFile(k.Path); err == nil {
			kept = append(kept, b)
		}
	}})
	if err != nil || len(kept) == 0 {
		t.Fatalf("%d checkpoints, %v", len(kept), err)
	}
	for _, b := range [][]byte{kept[0], kept[len(kept)/2], kept[len(kept)-1]} {
		if err := os.WriteFile(k.Path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		same(t, "killed", resumed(t, e, g, c, k, "going on after epoch"), whole)
	}
}

// TestDamagedCheckpoints checks that a checkpoint is not used if it is truncated, too long, or has a changed byte. The
// training must then start from the beginning and give the same result as without a checkpoint.
func TestDamagedCheckpoints(t *testing.T) {
	e, g, c := enginetest.Open(t, engine.Go), board(t, 8), small("gcn")
	c.Epochs = 6
	k := &Checkpoint{Path: filepath.Join(t.TempDir(), "state")}
	whole := fitted(t, e, g, c)
	broken(t, e, g, c, k, 3)
	b, err := os.ReadFile(k.Path)
	if err != nil {
		t.Fatal(err)
	}
	spoil := map[string][]byte{"empty": {}, "short": b[:10], "cut": b[:len(b)-1], "longer": append(b[:len(b):len(b)], 0)}
	for i := 0; i < len(b); i += len(b)/9 + 1 {
		flipped := append([]byte{}, b...)
		flipped[i] ^= 4
		spoil[fmt.Sprint("byte ", i)] = flipped
	}
	for what, content := range spoil {
		if err := os.WriteFile(k.Path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		same(t, what, resumed(t, e, g, c, k, "is damaged"), whole)
	}
	// Now a folder has the name of the checkpoint's file. So the checkpoint can neither be read nor written, and Fit
	// must return an error.
	if err := errors.Join(os.Remove(k.Path), os.Mkdir(k.Path, 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, err := Fit(t.Context(), e, g, 0, c, &Options{Checkpoint: k}); err == nil ||
		!strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
}

// TestOtherCheckpoints checks that Fit refuses the checkpoint of another training. The error must say what differs, and
// the file must stay as it is.
func TestOtherCheckpoints(t *testing.T) {
	e, c := enginetest.Open(t, engine.Go), small("gcn")
	k := &Checkpoint{Path: filepath.Join(t.TempDir(), "state"), Versions: map[string]string{"gomlx": "v1"}}
	broken(t, e, board(t, 8), c, k, 3)
	before, err := os.ReadFile(k.Path)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(g *graphs.Graph, c *Config, k *Checkpoint){
		"has lr 0.02, not 0.01":           func(_ *graphs.Graph, c *Config, _ *Checkpoint) { c.LearningRate = 0.01 },
		"has seed 0, not 1":               func(_ *graphs.Graph, c *Config, _ *Checkpoint) { c.Seed = 1 },
		"is of model gcn, not mlp":        func(_ *graphs.Graph, c *Config, _ *Checkpoint) { *c = small("mlp") },
		"is of another graph":             func(g *graphs.Graph, _ *Config, _ *Checkpoint) { g.Features[0]++ },
		"made with gomlx v1, not v2":      func(_ *graphs.Graph, _ *Config, k *Checkpoint) { k.Versions["gomlx"] = "v2" },
		"made with gomlx v1, not unknown": func(_ *graphs.Graph, _ *Config, k *Checkpoint) { k.Versions = nil },
	} {
		g, c, k := board(t, 8), c, *k
		k.Versions = map[string]string{"gomlx": "v1"}
		change(g, &c, &k)
		_, err := Fit(t.Context(), e, g, 0, c, &Options{Checkpoint: &k})
		var other *OriginError
		if !errors.As(err, &other) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), k.Path) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if after, err := os.ReadFile(k.Path); err != nil || string(after) != string(before) {
		t.Errorf("the checkpoint was changed: %v", err)
	}
}

// TestCheckpointThatCannotBeWritten checks a training whose checkpoints cannot be written. The training must go on, and
// must report the failure to [Options].Notice.
func TestCheckpointThatCannotBeWritten(t *testing.T) {
	e, g, c := enginetest.Open(t, engine.Go), board(t, 8), small("gcn")
	c.Epochs = 4
	k := &Checkpoint{Path: filepath.Join(t.TempDir(), "no", "folder", "state"), Every: time.Nanosecond}
	told := 0
	r, err := Fit(t.Context(), e, g, 0, c, &Options{Checkpoint: k, Notice: func(text string) {
		told++
		if !strings.Contains(text, "could not be kept") {
			t.Error(text)
		}
	}})
	if err != nil || r.Status != OK || told == 0 {
		t.Errorf("%v, %+v, told %d times", err, r, told)
	}
}

// FuzzReadState calls readState, which reads a checkpoint, for files with any content and the right checksum. readState
// must not panic. If it returns no error, the values that it returns must have the size of the array that the test asks
// for.
func FuzzReadState(f *testing.F) {
	seed := filepath.Join(f.TempDir(), "seed")
	arrays := []array{{Name: "a", Shape: "[2]", bytes: 2, write: func(w io.Writer) error {
		_, err := w.Write([]byte{1, 2})
		return err
	}}}
	if err := writeState(seed, state{Arrays: arrays}); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(seed)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:len(b)-32])
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "state")
		if err := files.WriteSealed(path, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
			t.Fatal(err)
		}
		_, content, err := readState(path, func(state) []array { return arrays })
		if err == nil && (len(content) != 1 || len(content[0]) != 2) {
			t.Errorf("read %v", content)
		}
	})
}

// TestDifferenceNamesDefaults compares settings that origins leave out at their defaults. Epochs are named last.
func TestDifferenceNamesDefaults(t *testing.T) {
	e := &engine.Engine{Name: "go"}
	c := Default("gcn")
	kept, err := NewOrigin(e, "sum", 0, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Epochs++
	for want, set := range map[string]func(c *Config){
		`has epochs 1000, not 1001`:                  func(*Config) {},
		`has scale "none", not "standardise"`:        func(c *Config) { c.Scale = "standardise" },
		`has class_weights "none", not "balanced"`:   func(c *Config) { c.ClassWeights = "balanced" },
		`has metric "auto", not "average-precision"`: func(c *Config) { c.Metric = "average-precision" },
	} {
		other := c
		set(&other)
		wanted, err := NewOrigin(e, "sum", 0, other, nil)
		if got := kept.Difference(wanted); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
}
