package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/weights"
)

// maxRecord bounds a record to read; a thousand epochs take about 100 kB.
const maxRecord = 256 << 20

// Record is what split<k>.json holds: a split's result, with all that it depends on.
type Record struct {
	Dataset string       `json:"dataset"`
	Model   string       `json:"model"`
	Config  train.Config `json:"config"`
	Engine  string       `json:"engine"`
	Metric  string       `json:"metric"`
	train.Result
	History []train.Epoch `json:"history"`
}

func recordName(split int) string  { return fmt.Sprintf("split%d.json", split) }
func weightsName(split int) string { return fmt.Sprintf("split%d.safetensors", split) }

// keep writes the weights, then the record: one that is there is complete.
func keep(dir string, s *Summary, r *train.Result) error {
	for _, name := range []string{recordName(r.Split), weightsName(r.Split)} { // of an earlier run
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot replace an earlier result: %w; choose another folder with --out", err)
		}
	}
	if len(r.Weights) > 0 {
		if err := weights.Write(filepath.Join(dir, weightsName(r.Split)), r.Weights); err != nil {
			return err
		}
	}
	return writeJSON(dir, recordName(r.Split), Record{s.Dataset, s.Model, s.Config, s.Engine, s.Metric, *r, r.History})
}

func writeJSON(dir, name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return files.Write(filepath.Join(dir, name), func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
}

// resume reads the results in dir of those splits that are there. One of another dataset or configuration is an error.
func resume(dir string, s *Summary, splits []int) (map[int]*train.Result, error) {
	out := map[int]*train.Result{}
	for _, k := range splits {
		path := filepath.Join(dir, recordName(k))
		record, err := readRecord(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		what := ""
		switch {
		case record.Dataset != s.Dataset:
			what = fmt.Sprintf("is of the dataset %q, not %q", record.Dataset, s.Dataset)
		case record.Split != k:
			what = fmt.Sprintf("is of split %d", record.Split)
		default:
			what = difference(record.Config, s.Config)
		}
		if what != "" {
			return nil, fmt.Errorf("cannot resume: %s %s; give the same settings, or another folder with --out",
				path, what)
		}
		r := record.Result
		r.History = record.History
		if r.BestEpoch > 0 {
			if r.Weights, err = weights.Read(filepath.Join(dir, weightsName(k))); errors.Is(err, fs.ErrNotExist) {
				continue // removed to save space, or never written: train again
			} else if err != nil {
				return nil, fmt.Errorf("cannot resume: %w; remove %s to train split %d again", err, path, k)
			}
		}
		out[k] = &r
	}
	return out, nil
}

func readRecord(path string) (*Record, error) {
	b, err := files.Read(path, "a result of an earlier run", maxRecord)
	if err != nil {
		return nil, fmt.Errorf("cannot resume: %w", err)
	}
	var r Record
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("cannot resume: %s is damaged (%w); remove it to train the split again", path, err)
	}
	return &r, nil
}

// difference names the first setting in which two configurations differ.
func difference(kept, now train.Config) string {
	if kept.Model != now.Model {
		return fmt.Sprintf("is of the model %s, not %s", kept.Model, now.Model)
	}
	a, b := fields(kept), fields(now)
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if string(a[key]) != string(b[key]) {
			return fmt.Sprintf("has %s %s, not %s", key, a[key], b[key])
		}
	}
	return ""
}

func fields(c train.Config) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if b, err := json.Marshal(c); err == nil {
		json.NewDecoder(bytes.NewReader(b)).Decode(&out)
	}
	return out
}
