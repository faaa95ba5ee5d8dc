package runs

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
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
	"github.com/revgnn/revgnn/pkg/weights"
)

// maxRecord is the largest size, in bytes, that the file of a record may have. A larger file is not read, since it
// would take too much memory. The record of a training with a thousand epochs has only about 100 kB.
const maxRecord = 256 << 20

// SplitRecord has the result of training on one split, and what this result depends on, such as the settings. The record of
// split k is the content of the file split<k>.json in the folder [SweepOptions].Dir.
type SplitRecord struct {
	Dataset string       `json:"dataset"`
	Model   string       `json:"model"`
	Config  train.Config `json:"config"`
	Engine  string       `json:"engine"`
	Metric  string       `json:"metric"`
	train.Result
	History []train.Epoch `json:"history"`
	// Details has curves over epochs and other data for figures. It is nil if [SweepOptions].Details is false.
	Details *train.Details `json:"details,omitempty"`
	// Origin says with which graph, split, model, settings, engine and software versions the result was made. Within a
	// sweep, the origins of the results differ only in the split.
	Origin train.Origin `json:"origin"`
	// Run is the run record of this training. Its fields Config, Outcome, Status, Message and Seconds are empty, since
	// the same data is in the other fields of Record. [SplitRecord.Recorded] returns the complete run record.
	Run Record `json:"run"`
	// WeightsSum is the SHA-256 of the file with the weights of this split. It is empty if no weights were stored.
	WeightsSum string `json:"weights_sha256"`
	// Sum is the SHA-256 of the file that contains this record. The file contains Sum, too. Therefore Sum is computed
	// from a text that has 64 zeros in place of Sum.
	Sum string `json:"sha256"`
}

// Recorded returns the complete run record of the training: the field Run, with its empty fields filled in.
func (r *SplitRecord) Recorded() (run Record, err error) {
	run = r.Run
	run.Status, run.Message, run.Seconds = r.Status, r.Message, r.Seconds
	if run.Config, err = json.Marshal(r.Config); err == nil {
		run.Outcome, err = json.Marshal(outcome{r.Result, r.Details})
	}
	return run, err
}

// outcome is the content of the field Outcome in the run record that [SplitRecord.Recorded] returns.
type outcome struct {
	train.Result
	Details *train.Details `json:"details,omitempty"`
}

// noSum stands in place of the checksum [SplitRecord].Sum in the text from which this checksum is computed.
var noSum = strings.Repeat("0", 2*sha256.Size)

// keep stores the result of a split. First it writes the file of weights, which also has a description of the model
// ([trained.About]). Only then does it write the record. So if a split has a record, its weights are complete. Finally
// keep removes the checkpoint of the split.
func (f *folder) keep(r *SplitRecord, about trained.About) error {
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
		if r.WeightsSum, err = fileSum(path); err != nil {
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

// replaceLast replaces the last occurrence of one text (the argument old) in b by another text (the argument with), and
// returns the result. If b does not contain the first text, replaceLast returns b.
func replaceLast(b []byte, old, with string) []byte {
	at := bytes.LastIndex(b, []byte(old))
	if at < 0 {
		return b
	}
	return append(append(bytes.Clone(b[:at]), with...), b[at+len(old):]...)
}

// sumOf returns the SHA-256 of a file.
func fileSum(path string) (string, error) {
	f, _, err := files.Open(path, "weights that revgnn train wrote")
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// resume reads the stored results of those splits that have a result in the folder. It compares the origin of each
// stored result (its graph, settings, engine and software versions) with the origin that a new training on the same
// split would have. If the two differ, resume returns an error. The argument origin is a function that returns the
// origin of a new training.
func (f *folder) resume(dataset string, origin func(split int) (train.Origin, error)) (map[int]*SplitRecord, error) {
	out := map[int]*SplitRecord{}
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
		if what != "" && r.Dataset != dataset {
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

// read reads the record and the weights of a split. If the checksum of one of these two files is wrong, read returns an
// error.
func (f *folder) read(split int) (*SplitRecord, error) {
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
	sum, err := fileSum(from)
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

func readRecord(path string) (*SplitRecord, error) {
	bad := func(what error) (*SplitRecord, error) {
		return nil, fmt.Errorf("%s is damaged (%w); remove it to train the split again", path, what)
	}
	b, err := files.Read(path, "a folder that revgnn train wrote", maxRecord)
	if err != nil {
		return nil, err
	}
	var r SplitRecord
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
