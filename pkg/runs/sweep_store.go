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
	"path/filepath"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// maxRecord is the largest size of a record's file. A thousand epochs take only about 100 kB.
const maxRecord = 256 << 20

// SplitRecord is the result of training on one split, and what it depends on: the content of split<k>.json.
type SplitRecord struct {
	Dataset string       `json:"dataset"`
	Model   string       `json:"model"`
	Config  train.Config `json:"config"`
	Engine  string       `json:"engine"`
	Metric  string       `json:"metric"`
	train.Result
	History []train.Epoch  `json:"history"`
	Details *train.Details `json:"details,omitempty"`
	// Within a sweep, origins differ only in the split.
	Origin train.Origin `json:"origin"`
	// Run is the run record of this training, without what the other fields have; see [SplitRecord.Recorded].
	Run Record `json:"run"`
	// The SHA-256 of the file with the weights; "" if no weights were stored.
	WeightsSum string `json:"weights_sha256"`
	// The SHA-256 of this file with 64 zeros in place of it.
	Sum string `json:"sha256"`
}

// Recorded returns the complete run record of the training.
func (r *SplitRecord) Recorded() (run Record, err error) {
	run = r.Run
	run.Status, run.Message, run.Seconds = r.Status, r.Message, r.Seconds
	if run.Config, err = json.Marshal(r.Config); err == nil {
		run.Outcome, err = json.Marshal(Trained{Result: r.Result, Details: r.Details})
	}
	return run, err
}

var noSum = strings.Repeat("0", 2*sha256.Size)

// keep stores the weights of a split, then its record, so that the weights are complete if there is a record, and
// removes the checkpoint.
func (f *folder) keep(r *SplitRecord, about trained.About) error {
	// An old record would not match the new weights.
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

// replaceLast replaces the last occurrence of old in b, if there is one.
func replaceLast(b []byte, old, with string) []byte {
	at := bytes.LastIndex(b, []byte(old))
	if at < 0 {
		return b
	}
	return append(append(bytes.Clone(b[:at]), with...), b[at+len(old):]...)
}

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

// resume reads the stored results of splits. It returns an error if one has another origin (graph, settings, engine,
// software) than a new training would have.
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

// read reads the record and the weights of a split, and checks their checksums.
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
	r.Weights, err = trained.ReadWeights(from)
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

// folder is the folder of a sweep's results. Other processes may write the results of other splits there: claims are
// the locks of the splits that this process trains on.
type folder struct {
	dir    string
	splits []int
	claims []*files.Lock
}

const resultName = "result.json"

func recordName(split int) string     { return fmt.Sprintf("split%d.json", split) }
func weightsName(split int) string    { return fmt.Sprintf("split%d.safetensors", split) }
func checkpointName(split int) string { return fmt.Sprintf("split%d.checkpoint", split) }

// openFolder creates the folder and locks the splits in it. It returns an error if files cannot be written there, or if
// another process has one of the splits.
func openFolder(dir string, splits []int) (*folder, error) {
	if err := files.Writable(dir); err != nil {
		return nil, err
	}
	f := &folder{dir: dir, splits: splits}
	for _, k := range splits {
		claim, err := files.TryLock(filepath.Join(dir, fmt.Sprintf(".split%d.lock", k)))
		if claim == nil && err == nil {
			err = fmt.Errorf("another process is training split %d into %s: wait for its end, or choose another folder "+
				"with --out", k, dir)
		}
		if err != nil {
			f.close()
			return nil, err
		}
		f.claims = append(f.claims, claim)
	}
	return f, nil
}

func (f *folder) close() {
	for _, c := range f.claims {
		c.Release()
	}
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// setAside moves the summary of an earlier sweep, and its files for the splits of this one, into a new subfolder, and
// returns its path; "" if there are none.
func (f *folder) setAside() (to string, err error) {
	var old []string
	names := []string{resultName}
	for _, k := range f.splits {
		names = append(names, recordName(k), weightsName(k), checkpointName(k))
	}
	for _, name := range names {
		if _, err := os.Lstat(f.path(name)); err == nil {
			old = append(old, name)
		}
	}
	if len(old) == 0 {
		return "", nil
	}
	for n := 1; ; n++ {
		to = f.path(fmt.Sprintf("earlier-%d", n))
		if err = os.Mkdir(to, 0o777); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	for _, name := range old {
		if err == nil {
			err = os.Rename(f.path(name), filepath.Join(to, name))
		}
		if name == resultName && errors.Is(err, fs.ErrNotExist) {
			err = nil // another process, for other splits, has moved it in the meantime
		}
	}
	if err != nil {
		return "", fmt.Errorf("cannot set an earlier result aside: %w; choose another folder with --out", err)
	}
	return to, nil
}

// removeCheckpoint must not be called before the split's result is stored: until then it is needed to resume.
func (f *folder) removeCheckpoint(split int) error {
	if err := os.Remove(f.path(checkpointName(split))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("split %d is done, but its checkpoint cannot be removed: %w", split, err)
	}
	return nil
}
