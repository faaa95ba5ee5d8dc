package train

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/models"
)

// OriginError is the error of a training that finds the checkpoint of another training in its file. The two trainings
// differ in something that their numbers depend on (see [Origin]), such as the graph, a setting or the version of a
// library. The checkpoint is neither used nor changed.
type OriginError struct {
	Path string
	// Difference says in words how the other training differs from the present one; see [Origin.Difference]. For
	// example, it is "has lr 0.02, not 0.01".
	Difference string
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
	// saved is the number of epochs that had been run when the last checkpoint was written. due is the earliest time
	// for the next checkpoint. (A training that stops before this time writes a checkpoint, too.)
	saved int
	due   time.Time
}

// newSaver returns the saver of a training. If c is nil, no checkpoints are wanted, and newSaver returns nil.
func newSaver(f *fit, c *Checkpoint) (*saver, error) {
	if c == nil {
		return nil, nil
	}
	seen := models.Seen(f.config.Config, f.graph).Checksum()
	origin, err := NewOrigin(f.engine, seen, f.result.Split, f.config, c.Versions)
	return &saver{Checkpoint: c, fit: f, origin: origin, due: time.Now().Add(c.every(0))}, err
}

// save writes a checkpoint if now is true or if the time s.due has come. It writes none if no epoch has been run since
// the last checkpoint. If the file cannot be written, the training goes on, and [Options].Notice gets a message.
func (s *saver) save(now bool) {
	if s == nil || s.saved == s.fit.result.Epochs || !now && time.Now().Before(s.due) {
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

// state returns the present state of the training, for a checkpoint.
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

// resume reads the checkpoint's file, if there is one, and sets the training to the state in the file. Call it after
// compiling the training step: compiling makes some of the variables that resume sets, such as those of Adam.
func (s *saver) resume() error {
	if s == nil {
		return nil
	}
	var other *OriginError
	was, content, err := readState(s.Path, func(was state) []array {
		if what := was.Origin.Difference(s.origin); what != "" {
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
	case errors.As(err, &damage{}):
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

// take copies a checkpoint's state into the fields of the training. It does not set the values of arrays, such as those
// of the variables: resume does this afterwards.
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

// arrays lists the arrays that a checkpoint with the given state contains: the values of all variables in the store. If
// there is a best epoch so far, the list also has the weights after this epoch and the logits computed with them.
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
			f.result.Weights[name] = Array{dims, values}
		}))
	}
	return append(list, floats("best logits", []int{f.graph.NumNodes, f.model.Outputs}, f.result.Logits,
		func(values []float32) { f.result.Logits = values }))
}

// variableArray describes a variable as an array of a checkpoint: its name, its shape, and functions that write its
// value to a checkpoint and set it again. The variable may have any data type.
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

// floats describes a slice of numbers as an array of a checkpoint. When this array is read from a checkpoint, the
// numbers are put into a new slice. The function keep gets the new slice, and stores it in the place of the old one.
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
