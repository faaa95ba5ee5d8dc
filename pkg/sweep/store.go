package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
	"github.com/revgnn/revgnn/pkg/weights"
)

// maxRecord is the largest size, in bytes, of a record that is read. The record of a training with a thousand epochs
// has about 100 kB.
const maxRecord = 256 << 20

// Record is the result of training on one split, together with everything that the result depends on. It is the content
// of the file split<k>.json ([Options].Dir).
type Record struct {
	Dataset string       `json:"dataset"`
	Model   string       `json:"model"`
	Config  train.Config `json:"config"`
	Engine  string       `json:"engine"`
	Metric  string       `json:"metric"`
	train.Result
	History []train.Epoch `json:"history"`
	// Details are set if [Options].Details is true.
	Details *train.Details `json:"details,omitempty"`
	// Origin is everything that the result depends on. In all results of a sweep it must be the same, except for the
	// number of the split.
	Origin train.Origin `json:"origin"`
	// Run is the record of this training as package results defines it. Its configuration, outcome, status, message and
	// seconds are not set, since the fields above have these values. [Record.Recorded] returns the complete record.
	Run results.Record `json:"run"`
	// WeightsSum is the SHA-256 of the file split<k>.safetensors. It is empty if there is no such file.
	WeightsSum string `json:"weights_sha256"`
	// Sum is the SHA-256 of the file split<k>.json. It is computed with zeros in place of the 64 digits of Sum itself.
	Sum string `json:"sha256"`
}

// Recorded returns the complete record of the run (see the field Run).
func (r *Record) Recorded() (run results.Record, err error) {
	run = r.Run
	run.Status, run.Message, run.Seconds = r.Status, r.Message, r.Seconds
	if run.Config, err = json.Marshal(r.Config); err == nil {
		run.Outcome, err = json.Marshal(outcome{r.Result, r.Details})
	}
	return run, err
}

// outcome is the content of the field Outcome in a complete record of the run.
type outcome struct {
	train.Result
	Details *train.Details `json:"details,omitempty"`
}

// noSum takes the place of a record's Sum while the sum is computed.
var noSum = strings.Repeat("0", 2*sha256.Size)

// keep writes the file of weights, which also describes the model (about). Then it writes the record, and finally
// removes the checkpoint. So a record exists only if all of the result was written.
func (f *folder) keep(r *Record, about trained.About) error {
	// An old record is removed first, since it would not match the new weights.
	if err := os.Remove(f.path(recordName(r.Split))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot replace an earlier result: %w; choose another folder with --out", err)
	}
	if len(r.Weights) > 0 {
		path := f.path(weightsName(r.Split))
		err := (&trained.Model{About: about, Weights: r.Weights}).Write(path)
		if err != nil {
			return err
		}
		if r.WeightsSum, err = sumOf(path); err != nil {
			return fmt.Errorf("cannot read what was written: %w", err)
		}
	}
	r.History, r.Sum = r.Result.History, noSum
	b, err := indented(r)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	r.Sum = hex.EncodeToString(sum[:])
	if err := f.write(recordName(r.Split), replaceLast(b, noSum, r.Sum)); err != nil {
		return err
	}
	return f.removeCheckpoint(r.Split)
}

func indented(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("a result cannot be written: %w", err)
	}
	return append(b, '\n'), nil
}

func (f *folder) write(name string, content []byte) error {
	return files.WriteText(f.path(name), content)
}

// replaceLast replaces the last occurrence of the text old in b, if there is one.
func replaceLast(b []byte, old, with string) []byte {
	at := bytes.LastIndex(b, []byte(old))
	if at < 0 {
		return b
	}
	return append(append(bytes.Clone(b[:at]), with...), b[at+len(old):]...)
}

// sumOf returns the SHA-256 of a file.
func sumOf(path string) (string, error) {
	f, _, err := files.Open(path, "weights that revgnn train wrote")
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// resume reads the results of those splits that have a result in the folder. It returns an error if a result has
// another origin than a training on the same split would have now. The function origin returns this new origin.
func (f *folder) resume(dataset string, origin func(split int) (train.Origin, error)) (map[int]*Record, error) {
	out := map[int]*Record{}
	for _, k := range f.splits {
		r, err := f.read(k)
		if errors.Is(err, fs.ErrNotExist) {
			continue // there is no result, or no file of weights: the split is trained again
		}
		if err != nil {
			return nil, fmt.Errorf("cannot resume: %w", err)
		}
		wanted, err := origin(k)
		if err != nil {
			return nil, err
		}
		what := r.Origin.Difference(wanted)
		if r.Dataset != dataset {
			what = fmt.Sprintf("is of the dataset %q, not %q", r.Dataset, dataset)
		}
		if what != "" {
			return nil, fmt.Errorf("cannot resume: %s %s; give the same settings, or another folder with --out",
				f.path(recordName(k)), what)
		}
		if err := f.removeCheckpoint(k); err != nil { // a killed process may have left the checkpoint
			return nil, err
		}
		out[k] = r
	}
	return out, nil
}

// read reads a split's record and its weights. It checks by their checksums that neither of the two files has changed.
func (f *folder) read(split int) (*Record, error) {
	path := f.path(recordName(split))
	r, err := readRecord(path)
	if err != nil {
		return nil, err
	}
	r.Result.History = r.History
	if r.WeightsSum == "" {
		return r, nil
	}
	from := f.path(weightsName(split))
	sum, err := sumOf(from)
	if err != nil {
		return nil, err
	}
	if sum != r.WeightsSum {
		return nil, fmt.Errorf("%s is damaged (its checksum is not the one in %s); remove both to train the split again",
			from, path)
	}
	r.Weights, err = weights.Read(from)
	return r, err
}

func readRecord(path string) (*Record, error) {
	bad := func(what error) (*Record, error) {
		return nil, fmt.Errorf("%s is damaged (%w); remove it to train the split again", path, what)
	}
	b, err := files.Read(path, "a folder that revgnn train wrote", maxRecord)
	if err != nil {
		return nil, err
	}
	var r Record
	if err := json.Unmarshal(b, &r); err != nil {
		return bad(err)
	}
	if r.Sum == "" {
		return nil, fmt.Errorf("%s is of an earlier revgnn, and does not say which graph and which versions it is of; "+
			"give another folder with --out", path)
	}
	sum := sha256.Sum256(replaceLast(b, r.Sum, noSum))
	if r.Sum != hex.EncodeToString(sum[:]) {
		return bad(errors.New("its checksum is wrong"))
	}
	return &r, nil
}
