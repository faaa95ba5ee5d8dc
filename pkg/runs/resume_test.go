package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/files/filestest"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// holds checks that a folder has exactly the files and folders with the given names.
func holds(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

// TestInterruptedSplitGoesOn interrupts a sweep in the middle of a training, and then resumes the sweep. The results
// must equal those of a sweep that was not interrupted. The interrupted training has details without the smoothness.
func TestInterruptedSplitGoesOn(t *testing.T) {
	e, g, c, dir := enginetest.Open(t, engine.Go), graph(t), small(), t.TempDir()
	c.Epochs = 12
	whole, err := Sweep(t.Context(), e, g, c, SweepOptions{Splits: []int{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var last *SplitRecord
	s, err := Sweep(ctx, e, g, c, SweepOptions{Splits: []int{0, 1}, Dir: dir, Record: func(Record, bool) {},
		Split: func(r *SplitRecord, _ bool) { last = r },
		Epoch: func(split int, at train.Epoch) {
			if split == 1 && at.Epoch == 4 {
				cancel()
			}
		}})
	if err != nil || s.OK() || !strings.Contains(s.Complaint(), "--resume goes on from there") {
		t.Fatalf("%+v, %v", s, err)
	}
	if d := last.Details; d == nil || len(d.Curves.Epochs) != last.Epochs || d.ROC == nil ||
		d.NoSmoothness != "the training was interrupted" {
		t.Errorf("the details of the interrupted training are %+v", d)
	}
	holds(t, dir, "split0.checkpoint", "split0.json", "split0.safetensors", "split1.checkpoint")
	var told []string
	s, err = Sweep(t.Context(), e, g, c, SweepOptions{Splits: []int{0, 1}, Dir: dir, Resume: true,
		Notice: func(text string) { told = append(told, text) }})
	if err != nil || !s.OK() || s.Mean != whole.Mean || s.Std != whole.Std || s.Splits[1].Epochs != 12 ||
		len(told) != 1 || !strings.HasPrefix(told[0], "split 1: going on after epoch") {
		t.Errorf("%+v, not %+v, %v; told %q", s, whole, err, told)
	}
	holds(t, dir, "result.json", "split0.checkpoint", "split0.json", "split0.safetensors", "split1.checkpoint",
		"split1.json", "split1.safetensors")
}

// TestMoreEpochs resumes a sweep with more epochs. Split 0 goes on from the state of its last epoch, and split 1, which
// stopped early, is kept. The results must be those of a sweep with as many epochs from the start. After an interrupt,
// the results with fewer epochs are still there.
func TestMoreEpochs(t *testing.T) {
	e, g, c, dir := enginetest.Open(t, engine.Go), graph(t), small(), t.TempDir()
	c.LearningRate, c.Epochs, c.Patience, c.Seed = 0.05, 40, 9, 1
	whole, err := Sweep(t.Context(), e, g, c, SweepOptions{Splits: []int{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	slow, quick := whole.Splits[0], whole.Splits[1]
	if quick.Epochs >= slow.Epochs-3 || slow.Epochs == 40 {
		t.Fatalf("the splits stop after %d and %d epochs", slow.Epochs, quick.Epochs)
	}
	var told string
	var kept []bool
	sweep := func(ctx context.Context, epochs int, epoch func(int, train.Epoch)) (*Summary, error) {
		told, kept = "", nil
		c.Epochs = epochs
		return Sweep(ctx, e, g, c, SweepOptions{Splits: []int{0, 1}, Dir: dir, Resume: true, Epoch: epoch,
			Notice: func(text string) { told += text + "\n" },
			Split:  func(_ *SplitRecord, resumed bool) { kept = append(kept, resumed) }})
	}
	short := slow.Epochs - 3
	first, err := sweep(t.Context(), short, nil)
	if err != nil || first.Splits[0].Epochs != short || first.Splits[1].Epochs != quick.Epochs {
		t.Fatalf("%+v, %v", first, err)
	}
	holds(t, dir, "result.json", "split0.checkpoint", "split0.json", "split0.safetensors", "split1.json",
		"split1.safetensors")
	ctx, cancel := context.WithCancel(t.Context())
	if s, err := sweep(ctx, 40, func(_ int, at train.Epoch) {
		if at.Epoch == short+1 {
			cancel()
		}
	}); err != nil || s.Splits[0].Status != train.Interrupted {
		t.Fatalf("%+v, %v", s, err)
	}
	if s, err := sweep(t.Context(), short, nil); err != nil || fmt.Sprint(kept) != "[true true]" ||
		s.Splits[0].Test != first.Splits[0].Test {
		t.Errorf("%+v, %v", s, err)
	}
	s, err := sweep(t.Context(), 40, nil)
	if err != nil || fmt.Sprint(kept) != "[false true]" || !strings.Contains(told, "split 0: going on after epoch ") ||
		!strings.Contains(told, "split 1 stopped early") {
		t.Fatalf("%+v, %v: %s", s, err, told)
	}
	for k, r := range s.Splits {
		want := whole.Splits[k]
		if r.Epochs != want.Epochs || r.BestEpoch != want.BestEpoch || r.Val != want.Val || r.Test != want.Test ||
			fmt.Sprint(r.Measures) != fmt.Sprint(want.Measures) {
			t.Errorf("split %d is %+v, want %+v", k, r, want)
		}
	}
	holds(t, dir, "result.json", "split0.json", "split0.safetensors", "split1.json", "split1.safetensors")

	dir = t.TempDir()
	if _, err := sweep(t.Context(), short, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "split0.checkpoint")); err != nil {
		t.Fatal(err)
	}
	if _, err := sweep(t.Context(), 40, nil); err == nil || !strings.Contains(err.Error(), "is not there any more") {
		t.Errorf("got %v", err)
	}
	if _, err := sweep(t.Context(), 2, nil); err == nil || !strings.Contains(err.Error(), "not 2; give the same") {
		t.Errorf("got %v", err)
	}
}

// TestResumeRefuses: with Resume, Run returns an error if the stored results were made with another graph, engine or
// version of the software, or if their files were changed.
func TestResumeRefuses(t *testing.T) {
	e, g, c, dir := enginetest.Open(t, engine.Go), graph(t), small(), t.TempDir()
	if _, err := Sweep(t.Context(), e, g, c, SweepOptions{Splits: []int{0}, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	again := func(want string) {
		t.Helper()
		_, err := Sweep(t.Context(), e, g, c, SweepOptions{Splits: []int{0}, Dir: dir, Resume: true})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	g.Features[0]++
	again("is of another graph")
	g.Features[0]--
	record, weights := filepath.Join(dir, splitName(0, recordEnd)), filepath.Join(dir, splitName(0, weightsEnd))
	for path, change := range map[string]func([]byte) []byte{
		record:  func(b []byte) []byte { return bytes.Replace(b, []byte(`"val": 0.`), []byte(`"val": 0.9`), 1) },
		weights: func(b []byte) []byte { b[len(b)-2] ^= 1; return b },
	} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		put(t, path, change(bytes.Clone(before)))
		again("is damaged")
		put(t, path, before)
	}
	whole, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for what, value := range map[string]string{"engine": "xla:cpu", "version of gomlx": "v0.0.0"} {
		var r SplitRecord
		if err := json.Unmarshal(whole, &r); err != nil {
			t.Fatal(err)
		}
		r.Origin[what] = value
		r.Result.History = r.History
		if err := (&sweep{SweepOptions: SweepOptions{Dir: dir}}).keep(&r, trained.About{}); err != nil {
			t.Fatal(err)
		}
		again(value + ", not")
	}
	put(t, record, []byte("{}"))
	again("is of an earlier revgnn")
}

// TestFlippedBytesOfSweep changes single bytes in the record and in the weights of a split. Reading the split must
// return an error after each change.
func TestFlippedBytesOfSweep(t *testing.T) {
	e, dir := enginetest.Open(t, engine.Go), t.TempDir()
	if _, err := Sweep(t.Context(), e, graph(t), small(), SweepOptions{Splits: []int{0}, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{splitName(0, recordEnd), splitName(0, weightsEnd)} {
		filestest.FlipsOf(t, filepath.Join(dir, name), func(at int) {
			w := &sweep{SweepOptions: SweepOptions{Dir: dir}}
			if _, err := w.read(0); err == nil || !strings.Contains(err.Error(), dir) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("byte %d of %s: %v", at, name, err)
			}
		})
	}
}

func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestUsedFolder: if Resume is not set, Run moves the summary of an earlier sweep, and the files that it has left for
// the same splits, to a new folder. All other files stay where they are.
func TestUsedFolder(t *testing.T) {
	e, g, c, dir := enginetest.Open(t, engine.Go), graph(t), small(), t.TempDir()
	run := func(splits ...int) (told string) {
		t.Helper()
		o := SweepOptions{Splits: splits, Dir: dir, Notice: func(text string) { told += text }}
		if _, err := Sweep(t.Context(), e, g, c, o); err != nil {
			t.Fatal(err)
		}
		return told
	}
	put(t, filepath.Join(dir, "notes.txt"), nil)
	if told := run(0, 1); told != "" {
		t.Errorf("told %q", told)
	}
	run(2) // the files of split 2 must stay when split 1 is trained again below
	if told := run(1); !strings.Contains(told, "earlier-2") {
		t.Errorf("told %q", told)
	}
	run(1)
	holds(t, dir, "earlier-1", "earlier-2", "earlier-3", "notes.txt", "result.json", "split0.checkpoint", "split0.json",
		"split0.safetensors", "split1.checkpoint", "split1.json", "split1.safetensors", "split2.checkpoint",
		"split2.json", "split2.safetensors")
	holds(t, filepath.Join(dir, "earlier-1"), "result.json")
	holds(t, filepath.Join(dir, "earlier-2"), "result.json", "split1.checkpoint", "split1.json", "split1.safetensors")
}

// TestSplitHasOneProcess: two processes must not store results of the same split in the same folder, since both would
// write the same files. Here the test takes the lock of split 1 itself, in place of another process. Run must then
// return an error if it is to train on split 1.
func TestSplitHasOneProcess(t *testing.T) {
	e, g, dir := enginetest.Open(t, engine.Go), graph(t), t.TempDir()
	claim, err := files.TryLock(filepath.Join(dir, ".split1.lock"))
	if err != nil {
		t.Fatal(err)
	}
	for _, splits := range [][]int{{0, 1}, {1}} {
		if _, err := Sweep(t.Context(), e, g, small(), SweepOptions{Splits: splits, Dir: dir}); err == nil ||
			!strings.Contains(err.Error(), "another process is training split 1") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := Sweep(t.Context(), e, g, small(), SweepOptions{Splits: []int{0}, Dir: dir}); err != nil {
		t.Error(err)
	}
	claim.Release()
	holds(t, dir, "result.json", "split0.checkpoint", "split0.json", "split0.safetensors")
}
