package train

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/models"
)

// OriginError is that of a training that finds the checkpoint of another one, which it neither uses nor changes.
type OriginError struct {
	Path       string
	Difference string // see [Origin.Difference]; for example "has lr 0.02, not 0.01"
}

func (e *OriginError) Error() string {
	return fmt.Sprintf("cannot go on from the checkpoint %s: it %s; give what it was made with, or remove it to start "+
		"over", e.Path, e.Difference)
}

// saver writes the checkpoints of a training. A nil saver writes none.
type saver struct {
	*Checkpoint
	fit    *fit
	origin Origin
	// saved is the number of epochs in the last checkpoint, due the earliest time for the next one.
	saved int
	due   time.Time
}

func newSaver(f *fit, c *Checkpoint) (*saver, error) {
	if c == nil {
		return nil, nil
	}
	origin, err := NewOrigin(f.engine, f.config.InputGraph(f.graph).Checksum(), f.result.Split, f.config, c.Versions)
	return &saver{Checkpoint: c, fit: f, origin: origin, due: time.Now().Add(c.every(0))}, err
}

// save writes a checkpoint now or if it is due, unless no epoch was run since the last. A file that cannot be written
// is a notice.
func (s *saver) save(now bool) {
	if s == nil || s.saved == s.fit.result.Epochs {
		return
	}
	if now = now || s.Last && s.fit.result.Epochs >= s.fit.config.Epochs; !now && time.Now().Before(s.due) {
		return
	}
	start := time.Now()
	if err := writeState(s.Path, s.state()); err != nil {
		s.fit.notice("the state after epoch %d could not be kept: %v", s.fit.result.Epochs, err)
	} else {
		s.saved = s.fit.result.Epochs
	}
	s.due = time.Now().Add(s.every(time.Since(start)))
}

// state is that of the training.
func (s *saver) state() state {
	f := s.fit
	now := state{Origin: s.origin, Result: *f.result, Began: f.result.Began, History: f.result.History, Solve: f.solve,
		Adjoint: f.adjoint, Patience: f.patience}
	now.Result.Seconds, now.Result.PeakRSS = f.elapsed(), max(f.result.PeakRSS, peakRSS())
	now.Result.PredictedBytes = max(f.result.PredictedBytes, f.predicted)
	for _, e := range now.History {
		now.BestVals = append(now.BestVals, e.BestVal)
	}
	now.Arrays = s.arrays(now)
	return now
}

// resume sets the training to the file's state, if there is one. Compiling the step before makes some of the variables,
// such as Adam's.
func (s *saver) resume() error {
	if s == nil {
		return nil
	}
	var other *OriginError
	was, content, err := readState(s.Path, func(was state) []array {
		what := was.Origin.Difference(s.origin)
		if what != "" && !(was.Origin.OtherLength(s.origin) && was.Result.Epochs <= s.fit.config.Epochs) {
			other = &OriginError{s.Path, what}
			return nil
		}
		return s.arrays(was)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case other != nil && !s.Replace:
		return other
	case other != nil:
		s.fit.notice("the checkpoint %s %s: the training starts over", s.Path, other.Difference)
		return nil
	case errors.As(err, &damage{}), errors.As(err, new(*files.DamageError)):
		s.fit.notice("the checkpoint %s is damaged (%v): the training starts over", s.Path, err)
		return nil
	case err != nil:
		return fmt.Errorf("cannot go on from the checkpoint %s: %w", s.Path, err)
	}
	s.fit.take(was)
	for i, a := range s.arrays(was) {
		if err := a.set(content[i]); err != nil {
			return fmt.Errorf("cannot go on from the checkpoint %s: %s: %w", s.Path, a.Name, err)
		}
	}
	s.saved = s.fit.result.Epochs
	s.fit.notice("going on after epoch %d, from the checkpoint %s", s.saved, s.Path)
	return nil
}

// take copies a checkpoint's state, except the values of arrays.
func (f *fit) take(was state) {
	*f.result = was.Result
	r := f.result
	if before := r.Threads; before != f.engine.Threads {
		f.notice("it was begun on %d threads and goes on with %d: last digits differ from those of either alone", before,
			f.engine.Threads)
		r.Threads = f.engine.Threads
	}
	r.Began, r.Outputs, r.History, r.Weights = was.Began, f.model.Outputs, was.History, map[string]Array{}
	for i, val := range was.BestVals {
		r.History[i].Epochs, r.History[i].BestVal = f.config.Epochs, val
	}
	f.solve, f.adjoint, f.patience, f.before = was.Solve, was.Adjoint, was.Patience, r.Seconds
	f.seconds = nil
	for _, e := range r.History {
		f.seconds = append(f.seconds, e.Seconds)
	}
}

// arrays are all variables in the store and, if there is a best epoch, its weights and logits.
func (s *saver) arrays(of state) (list []array) {
	f := s.fit
	for v := range f.store.IterVariables() {
		list = append(list, variableArray(v))
	}
	if of.Result.BestEpoch == 0 {
		return list
	}
	for _, v := range f.Variables {
		name, dims := models.NameOf(v), v.Shape().Dimensions
		list = append(list, floats("best "+name, dims, f.result.Weights[name].Values, func(values []float32) {
			f.result.Weights[name] = Array{Shape: dims, Values: values}
		}))
	}
	return append(list, floats("best logits", []int{f.graph.NumNodes, f.model.Outputs}, f.result.Logits,
		func(values []float32) { f.result.Logits = values }))
}

// variableArray is a variable of any type.
func variableArray(v *model.Variable) array {
	return array{Name: v.Path(), Shape: v.Shape().String(), bytes: int(v.Shape().ByteSize()),
		write: func(w io.Writer) error {
			t, err := v.Value()
			if err != nil {
				return err
			}
			return errors.Join(t.ConstBytes(func(b []byte) { _, err = w.Write(b) }), err)
		},
		set: func(b []byte) error {
			t := tensors.FromShape(v.Shape())
			if err := t.MutableBytes(func(to []byte) { copy(to, b) }); err != nil {
				return err
			}
			return v.SetValue(t)
		}}
}

// floats are numbers that keep stores when they are read again.
func floats(name string, shape []int, values []float32, keep func([]float32)) array {
	size := 1
	for _, d := range shape {
		size *= d
	}
	return array{Name: name, Shape: fmt.Sprint(shape), bytes: 4 * size,
		write: func(w io.Writer) error { return binary.Write(w, binary.LittleEndian, values) },
		set: func(b []byte) error {
			read := make([]float32, size)
			keep(read)
			return binary.Read(bytes.NewReader(b), binary.LittleEndian, read)
		}}
}

// stateMagic begins a checkpoint's file, which [files.WriteSealed] writes with a checksum at the end:
//
//	stateMagic                       the format and its version
//	uint64                           the length of the header, little-endian
//	header                           a state, as JSON
//	bytes                            the arrays that the header lists, one after the other
const stateMagic = "revgnn checkpoint 1\n"

type state struct {
	Origin Origin `json:"origin"`
	// The JSON of Result lacks the next three: [Result].Began, the history, and the best validation metric up to each
	// epoch. Result.Seconds is the time up to this checkpoint.
	Result   Result    `json:"result"`
	Began    time.Time `json:"began"`
	History  []Epoch   `json:"history"`
	BestVals []Number  `json:"best_vals"`
	// Solve, Adjoint and Patience are as in fit.
	Solve    float64 `json:"solve"`
	Adjoint  float64 `json:"adjoint"`
	Patience int     `json:"patience"`
	Arrays   []array `json:"arrays"`
}

// array is an array of a checkpoint, such as the value of a variable.
type array struct {
	Name  string `json:"name"`
	Shape string `json:"shape"`
	// bytes is its size. write writes the values, and set sets them from what write wrote.
	bytes int
	write func(io.Writer) error
	set   func([]byte) error
}

func writeState(path string, s state) error {
	header, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return files.WriteSealed(path, func(w io.Writer) error {
		io.WriteString(w, stateMagic) // If this write fails, so do the later ones.
		binary.Write(w, binary.LittleEndian, uint64(len(header)))
		w.Write(header)
		for _, a := range s.Arrays {
			if err := a.write(w); err != nil {
				return fmt.Errorf("%s: %w", a.Name, err)
			}
		}
		return nil
	})
}

// damage is the error for a file that is not as writeState wrote it.
type damage struct{ error }

// readState returns a state and its arrays as bytes. wanted lists the arrays that the file must contain. Their sizes
// are not taken from the file, which may be damaged.
func readState(path string, wanted func(state) []array) (s state, content [][]byte, err error) {
	f, err := files.OpenSealed(path, "a file that revgnn wrote")
	if err != nil {
		return s, nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	magic := make([]byte, len(stateMagic))
	var length uint64
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != stateMagic {
		return s, nil, damage{errors.New("it is of another format")}
	}
	if err := binary.Read(in, binary.LittleEndian, &length); err != nil || length > uint64(f.Size()) {
		return s, nil, damage{errors.New("its header is too long")}
	}
	if err := json.NewDecoder(io.LimitReader(in, int64(length))).Decode(&s); err != nil {
		return s, nil, damage{err}
	}
	// The decoder stops at the end of the JSON value, which may be before that of the header.
	start := int64(len(stateMagic)+8) + int64(length)
	in.Reset(io.NewSectionReader(f, start, f.Size()-start))
	list := wanted(s)
	if len(list) != len(s.Arrays) {
		return s, nil, damage{fmt.Errorf("it has %d arrays, not %d", len(s.Arrays), len(list))}
	}
	for i, a := range list {
		if kept := s.Arrays[i]; kept.Name != a.Name || kept.Shape != a.Shape {
			return s, nil, damage{fmt.Errorf("it has %q of shape %s, not %q of shape %s",
				kept.Name, kept.Shape, a.Name, a.Shape)}
		}
		b := make([]byte, a.bytes)
		if _, err := io.ReadFull(in, b); err != nil {
			return s, nil, damage{err}
		}
		content = append(content, b)
	}
	return s, content, nil
}

// Origin has, by name, all on which the results of a training depend, except the machine: the checksum of the graph as
// the model reads it, the split, the engine, the model, settings, and versions of software. A checkpoint or a stored
// result is used only for a training of the same origin.
type Origin map[string]string

// versionOf begins the names of versions.
const versionOf = "version of "

// NewOrigin returns the origin of a training on a graph with this checksum ([models.Config.InputGraph]).
func NewOrigin(e *engine.Engine, graph string, split int, c Config, versions map[string]string) (Origin, error) {
	o := Origin{"graph": graph, "split": strconv.Itoa(split), "engine": e.Name}
	for key, value := range c.Resolved().Values() {
		b, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("the setting %s cannot be written as JSON: %w", key, err)
		}
		o[key] = string(b)
	}
	o["model"] = c.Model
	for name, version := range versions {
		o[versionOf+name] = version
	}
	if e.Version != "" {
		o[versionOf+"the plugin"] = e.Version
	}
	return o, nil
}

// Difference names the most important difference of two origins, in words that follow "the checkpoint" or "the result":
// that of the model, then of the engine, the split and the settings, epochs last, the graph, and versions. It is "" for
// equal ones.
func (kept Origin) Difference(wanted Origin) string {
	all := maps.Clone(kept)
	maps.Copy(all, wanted)
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		if kept[name] != wanted[name] {
			return describe(name, kept[name], wanted[name])
		}
	}
	return ""
}

// OtherLength tells whether two trainings differ at most in the number of epochs, on which no epoch's results depend:
// one can then go on from the other's state.
func (kept Origin) OtherLength(wanted Origin) bool {
	same := maps.Clone(kept)
	same["epochs"] = wanted["epochs"]
	return same.Difference(wanted) == "" && kept["schedule"] != `"cosine"`
}

func rank(name string) int {
	switch {
	case name == "model":
		return 0
	case name == "epochs": // may differ, where nothing else does
		return 2
	case name == "graph":
		return 3
	case strings.HasPrefix(name, versionOf):
		return 4
	}
	return 1
}

func describe(name, kept, wanted string) string {
	if what, is := strings.CutPrefix(name, versionOf); is {
		return fmt.Sprintf("was made with %s %s, not %s", what, cmp.Or(kept, "unknown"), cmp.Or(wanted, "unknown"))
	}
	switch name {
	case "graph":
		return fmt.Sprintf("is of another graph (its checksum is %.12s, not %.12s)", kept, wanted)
	case "model", "split":
		return fmt.Sprintf("is of %s %s, not %s", name, kept, wanted)
	}
	usual := "unknown"
	for _, s := range models.Default("").Settings() {
		if b, err := json.Marshal(s.Absent); s.Key() == name && s.Absent != nil && err == nil {
			usual = string(b)
		}
	}
	return fmt.Sprintf("has %s %s, not %s", name, cmp.Or(kept, usual), cmp.Or(wanted, usual))
}
