package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// SweepOptions are the options of [Sweep].
type SweepOptions struct {
	Splits []int
	// Dir is the folder for results; "" for none. For each split k it gets split<k>.json (a [SplitRecord]),
	// split<k>.safetensors (the weights after the best epoch) and, until the training has stopped early,
	// split<k>.checkpoint; at the end of the sweep result.json (the [Summary]).
	Dir string
	// Resume takes results from Dir and goes on from checkpoints there; both must be of the same graph, settings,
	// engine and software ([train.Origin]). With more epochs, it also goes on with trainings that had not stopped
	// early. Without it, files of an earlier sweep for these splits are moved into a
	// new subfolder.
	Resume          bool
	CheckpointEvery time.Duration
	// Beside, if not nil, trains on splits in other processes, which resume in Dir. The sweep then takes results from
	// there, and makes itself what is missing.
	Beside func(splits []int) error
	// Record, if not nil, is given the run record of each training, also of one that fails. Such records have
	// [train.Details], for one more evaluation of the model. Resumed ones were taken from Dir.
	Record func(r Record, resumed bool)
	// These may be nil, too.
	Epoch  func(split int, e train.Epoch)
	Split  func(r *SplitRecord, resumed bool)
	Notice func(text string)
}

// Summary is the summary of a sweep. Mean and deviations are of the test metric over the splits with the status
// [train.OK] and with test nodes. Without such splits they are NaN, which is null in JSON.
type Summary struct {
	Subject
	Splits []*train.Result `json:"splits"`
	Mean   train.Number    `json:"mean"`
	// Std has the divisor n-1, StdPopulation n.
	Std           train.Number `json:"std"`
	StdPopulation train.Number `json:"std_population"`

	resumable bool
}

// Subject says what the results of a sweep are of.
type Subject struct {
	Dataset string       `json:"dataset"`
	Model   string       `json:"model"`
	Config  train.Config `json:"config"`
	Engine  string       `json:"engine"`
	Metric  string       `json:"metric"`
}

// SplitRecord is the content of split<k>.json: the result of training on a split, and what it depends on.
type SplitRecord struct {
	Subject
	train.Result
	History []train.Epoch  `json:"history"`
	Details *train.Details `json:"details,omitempty"`
	// Within a sweep, origins differ only in the split.
	Origin train.Origin `json:"origin"`
	// Run is the run record without what the other fields have.
	Run Record `json:"run"`
	// The SHA-256 of the file with the weights; "" if no weights were stored.
	WeightsSum string `json:"weights_sha256"`
	// The SHA-256 of this file with 64 zeros in place of it.
	Sum string `json:"sha256"`
}

// record returns the complete run record.
func (r *SplitRecord) record() Record {
	run := r.Run
	run.Status, run.Message, run.Seconds = r.Status, r.Message, r.Seconds
	run.Config, _ = json.Marshal(r.Config) // neither can fail: the settings are valid, and NaN is null
	run.Outcome, _ = json.Marshal(Trained{Result: r.Result, Details: r.Details})
	return run
}

// Sweep trains a model on each of the splits, one after the other. If ctx is cancelled, it returns the results so far;
// the last one is [train.Interrupted]. A training that diverges is in the summary, but does not count for the mean. If
// one cannot be made, the error comes together with the summary of the splits before it.
func Sweep(ctx context.Context, e *engine.Engine, g *graphs.Graph, c train.Config, o SweepOptions) (*Summary, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	w := &sweep{SweepOptions: o, engine: e, graph: g, config: c, subject: Subject{Dataset: g.Name, Model: c.Model,
		Config: c.Resolved(), Engine: e.Name, Metric: train.Metric(c, g).Name}, versions: machine.Versions(),
		checksum: c.InputGraph(g).Checksum()}
	defer w.release()
	kept, err := w.open()
	if err == nil && o.Beside != nil {
		w.release()
		w.Resume = true
		missing := slices.DeleteFunc(slices.Clone(o.Splits), func(k int) bool { return kept[k] != nil })
		if err = o.Beside(missing); err == nil {
			kept, err = w.open()
		}
		os.Remove(filepath.Join(w.Dir, resultName)) // of one of the processes, for its splits
	}
	if err != nil {
		return nil, err
	}
	s := &Summary{Subject: w.subject, Splits: []*train.Result{}, resumable: o.Dir != ""}
	ended := false
	for _, k := range o.Splits {
		r, resumed := kept[k]
		if !resumed {
			if ended {
				continue
			}
			var failed error
			if r, failed = w.train(ctx, k); failed != nil {
				err, ended = failed, true
				continue
			}
		}
		if o.Record != nil {
			o.Record(r.record(), resumed)
		}
		s.Splits = append(s.Splits, &r.Result)
		if o.Split != nil {
			o.Split(r, resumed)
		}
		ended = ended || r.Status == train.Interrupted
	}
	tests := s.Tests()
	s.Mean, s.Std = train.Number(metrics.Mean(tests)), train.Number(metrics.SampleStd(tests))
	s.StdPopulation = train.Number(metrics.PopulationStd(tests))
	if err != nil || o.Dir == "" || len(s.of(train.Interrupted)) > 0 {
		return s, err
	}
	return s, files.WriteJSON(filepath.Join(w.Dir, resultName), s)
}

// sweep is a [Sweep] in progress. In its folder, other processes may write the results of other splits.
type sweep struct {
	SweepOptions
	engine   *engine.Engine
	graph    *graphs.Graph
	config   train.Config
	subject  Subject
	versions map[string]string
	// checksum is that of the graph as the model reads it ([models.Config.InputGraph]).
	checksum string
	// locks are those of the splits in the folder.
	locks []*files.Lock
}

const resultName = "result.json"

// The endings of a split's files in the folder of a sweep.
const recordEnd, weightsEnd, checkpointEnd = ".json", ".safetensors", ".checkpoint"

func splitName(split int, end string) string { return fmt.Sprintf("split%d%s", split, end) }

func (w *sweep) path(split int, end string) string {
	return filepath.Join(w.Dir, splitName(split, end))
}

// open makes the folder and locks the splits in it. It returns the results there if the sweep is resumed, and moves
// them aside otherwise.
func (w *sweep) open() (map[int]*SplitRecord, error) {
	if w.Dir == "" {
		return nil, nil
	}
	if err := files.Writable(w.Dir); err != nil {
		return nil, err
	}
	for _, k := range w.Splits {
		lock, err := files.TryLock(filepath.Join(w.Dir, "."+splitName(k, ".lock")))
		if lock == nil && err == nil {
			err = fmt.Errorf("another process is training split %d into %s: wait for its end, or choose another folder "+
				"with --out", k, w.Dir)
		}
		if err != nil {
			return nil, err
		}
		w.locks = append(w.locks, lock)
	}
	if w.Resume {
		return w.resume()
	}
	return nil, w.setAside()
}

func (w *sweep) release() {
	for _, l := range w.locks {
		l.Release()
	}
	w.locks = nil
}

func (w *sweep) notice(format string, args ...any) {
	if w.Notice != nil {
		w.Notice(fmt.Sprintf(format, args...))
	}
}

func (w *sweep) origin(split int) (train.Origin, error) {
	return train.NewOrigin(w.engine, w.checksum, split, w.config, w.versions)
}

// train trains on a split, and stores its files unless it was interrupted. It passes on the record if that fails.
func (w *sweep) train(ctx context.Context, split int) (_ *SplitRecord, err error) {
	run := Start(Training(w.graph.Name, split, w.config), w.checksum, w.engine.Name)
	defer func() {
		if err != nil && w.Record != nil {
			run.End(ctx, nil, err)
			w.Record(run, false)
		}
	}()
	origin, err := w.origin(split)
	if err != nil {
		return nil, err
	}
	r := &SplitRecord{Subject: w.subject, Origin: origin, Run: run}
	r.Run.Config = nil // the record of the split has it
	o := &train.Options{Notice: func(text string) { w.notice("split %d: %s", split, text) }}
	if w.Epoch != nil {
		o.Epoch = func(e train.Epoch) { w.Epoch(split, e) }
	}
	if w.Dir != "" {
		o.Checkpoint = &train.Checkpoint{Path: w.path(split, checkpointEnd), Every: w.CheckpointEvery,
			Versions: w.versions, Last: true}
	}
	result, err := train.Fit(ctx, w.engine, w.graph, split, w.config, o)
	if err != nil {
		return nil, fmt.Errorf("split %d: %w", split, err)
	}
	r.Result = *result
	if w.Record != nil && (r.Status == train.Interrupted || ctx.Err() == nil) {
		// The result of the training is kept without the details.
		if r.Details, err = train.Describe(w.engine, w.graph, w.config, result); err != nil {
			w.notice("split %d: there will be no curves on its page: %v", split, err)
		}
	}
	if w.Dir != "" && r.Status != train.Interrupted {
		return r, w.keep(r, trained.Describe(w.graph, w.config, w.engine.Name, result))
	}
	return r, nil
}

// keep stores the weights of a split, then its record, so that the weights are complete if there is a record, and
// removes the checkpoint if the training has stopped early.
func (w *sweep) keep(r *SplitRecord, about trained.About) error {
	// An old record would not match the new weights.
	if err := os.Remove(w.path(r.Split, recordEnd)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot replace an earlier result: %w; choose another folder with --out", err)
	}
	if len(r.Weights) > 0 {
		path := w.path(r.Split, weightsEnd)
		err := (&trained.Model{About: about, Weights: r.Weights}).Write(path)
		if err != nil {
			return err
		}
		if r.WeightsSum, err = fileSum(path); err != nil {
			return fmt.Errorf("cannot read what was written: %w", err)
		}
	}
	r.History, r.Sum = r.Result.History, noSum
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("a result cannot be written: %w", err)
	}
	b = append(b, '\n')
	r.Sum = hexSum(b)
	if err := files.WriteText(w.path(r.Split, recordEnd), replaceLast(b, noSum, r.Sum)); err != nil {
		return err
	}
	return w.removeCheckpoint(r)
}

// early tells whether more epochs would not change the result.
func (r *SplitRecord) early() bool { return r.Status != train.OK || r.Epochs < r.Config.Epochs }

// removeCheckpoint removes that of a training that has stopped early; others can go on from it with more epochs. It
// must not be called before the split's result is stored: until then the checkpoint is needed to resume.
func (w *sweep) removeCheckpoint(r *SplitRecord) error {
	if !r.early() {
		return nil
	}
	split := r.Split
	if err := os.Remove(w.path(split, checkpointEnd)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("split %d is done, but its checkpoint cannot be removed: %w", split, err)
	}
	return nil
}

var noSum = strings.Repeat("0", 2*sha256.Size)

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
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

func replaceLast(b []byte, old, with string) []byte {
	at := bytes.LastIndex(b, []byte(old))
	if at < 0 {
		return b
	}
	return slices.Concat(b[:at], []byte(with), b[at+len(old):])
}

// resume reads the stored results of splits. It returns an error if one has another origin (graph, settings, engine,
// software) than a new training would have. With more epochs, a result counts only if its training has stopped early.
func (w *sweep) resume() (map[int]*SplitRecord, error) {
	out := map[int]*SplitRecord{}
	for _, k := range w.Splits {
		r, err := w.read(k)
		if errors.Is(err, fs.ErrNotExist) {
			continue // there is no result, or no file of weights: the split is trained again
		}
		if err != nil {
			return nil, fmt.Errorf("cannot resume: %w", err)
		}
		wanted, err := w.origin(k)
		if err != nil {
			return nil, err
		}
		what := r.Origin.Difference(wanted)
		if what != "" && r.Dataset != w.graph.Name {
			what = fmt.Sprintf("is of the dataset %q, not %q", r.Dataset, w.graph.Name)
		}
		if more := w.config.Epochs > r.Config.Epochs; more && r.Origin.OtherLength(wanted) && what != "" {
			_, err := os.Stat(w.path(k, checkpointEnd))
			if err == nil && !r.early() {
				continue // the training goes on from the checkpoint
			}
			if r.early() || w.config.Patience > 0 && r.Epochs-r.BestEpoch >= w.config.Patience {
				what = ""
				w.notice("split %d stopped early, after %d epochs: more do not change it", k, r.Epochs)
			} else {
				what += ", and its checkpoint, the state after the last epoch, is not there any more"
			}
		}
		if what != "" {
			return nil, fmt.Errorf("cannot resume: %s %s; give the same settings, or another folder with --out",
				w.path(k, recordEnd), what)
		}
		if err := w.removeCheckpoint(r); err != nil { // a killed process may have left the checkpoint
			return nil, err
		}
		out[k] = r
	}
	return out, nil
}

// read reads the record and the weights of a split, and checks their checksums.
func (w *sweep) read(split int) (*SplitRecord, error) {
	path := w.path(split, recordEnd)
	r, err := readSplitRecord(path)
	if err != nil || r.WeightsSum == "" {
		return r, err
	}
	from := w.path(split, weightsEnd)
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

func readSplitRecord(path string) (*SplitRecord, error) {
	const limit = 256 << 20 // a thousand epochs take only about 100 kB
	b, err := files.Read(path, "a folder that revgnn train wrote", limit)
	if err != nil {
		return nil, err
	}
	var r SplitRecord
	err = json.Unmarshal(b, &r)
	if err == nil && r.Sum == "" {
		return nil, fmt.Errorf("%s is of an earlier revgnn, and does not say which graph and which versions it is of; "+
			"give another folder with --out", path)
	}
	if err == nil && r.Sum != hexSum(replaceLast(b, r.Sum, noSum)) {
		err = errors.New("its checksum is wrong")
	}
	if err != nil {
		return nil, fmt.Errorf("%s is damaged (%w); remove it to train the split again", path, err)
	}
	r.Result.History = r.History
	return &r, nil
}

// HasSplit tells whether a folder of a [Sweep] has the result of a split.
func HasSplit(dir string, split int) bool {
	_, err := os.Stat(filepath.Join(dir, splitName(split, recordEnd)))
	return err == nil
}

// setAside moves the summary of an earlier sweep, and its files for the splits of this one, into a new subfolder.
func (w *sweep) setAside() error {
	old := []string{resultName}
	for _, k := range w.Splits {
		old = append(old, splitName(k, recordEnd), splitName(k, weightsEnd), splitName(k, checkpointEnd))
	}
	old = slices.DeleteFunc(old, func(name string) bool {
		_, err := os.Lstat(filepath.Join(w.Dir, name))
		return err != nil
	})
	if len(old) == 0 {
		return nil
	}
	to, err := "", fs.ErrExist
	for n := 1; errors.Is(err, fs.ErrExist); n++ {
		to = filepath.Join(w.Dir, fmt.Sprintf("earlier-%d", n))
		err = os.Mkdir(to, 0o777)
	}
	for _, name := range old {
		if err == nil {
			err = os.Rename(filepath.Join(w.Dir, name), filepath.Join(to, name))
		}
		if name == resultName && errors.Is(err, fs.ErrNotExist) {
			err = nil // another process, for other splits, has moved it in the meantime
		}
	}
	if err != nil {
		return fmt.Errorf("cannot set an earlier result aside: %w; choose another folder with --out", err)
	}
	w.notice("what an earlier run left in %s is now in %s", w.Dir, to)
	return nil
}

// OK tells whether all splits have the status [train.OK].
func (s *Summary) OK() bool {
	return !slices.ContainsFunc(s.Splits, func(r *train.Result) bool { return r.Status != train.OK })
}

// of returns the splits with a status.
func (s *Summary) of(status string) []*train.Result {
	return slices.DeleteFunc(slices.Clone(s.Splits), func(r *train.Result) bool { return r.Status != status })
}

// Warnings has a sentence for each split that ended well but whose numbers deserve a look, such as one whose inverse
// did not converge ([train.Result.Message]).
func (s *Summary) Warnings() (list []string) {
	for _, r := range s.of(train.OK) {
		if r.Message != "" {
			list = append(list, fmt.Sprintf("split %d: %s", r.Split, r.Message))
		}
	}
	return list
}

// Complaint returns a sentence that says what went wrong, or "".
func (s *Summary) Complaint() string {
	if interrupted := s.of(train.Interrupted); len(interrupted) > 0 {
		remedy := "the same command with --resume goes on from there"
		if !s.resumable {
			remedy = "with --out, the state is kept, and --resume goes on from there"
		}
		r := interrupted[0]
		return fmt.Sprintf("interrupted in split %d after %d epochs; %s", r.Split, r.Epochs, remedy)
	}
	if diverged := s.of(train.Diverged); len(diverged) > 0 {
		return fmt.Sprintf("%d of %d splits diverged and do not count for the mean, first split %d: %s", len(diverged),
			len(s.Splits), diverged[0].Split, diverged[0].Message)
	}
	return ""
}

// Tests returns the test metrics that count for the mean.
func (s *Summary) Tests() (tests []float64) {
	for _, r := range s.of(train.OK) {
		if !math.IsNaN(float64(r.Test)) {
			tests = append(tests, float64(r.Test))
		}
	}
	return tests
}
