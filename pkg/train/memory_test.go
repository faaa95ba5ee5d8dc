package train

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/models"
)

// TestMemoryPrediction compares the memory that training predicts from the compiled programs with the most memory that
// the process then takes.
func TestMemoryPrediction(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	g := board(t, 100)
	for _, model := range models.Names() {
		if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil { // This resets the peak of the memory.
			t.Skip("the system does not let a process reset its peak memory")
		}
		c := small(model)
		c.Epochs, c.Hidden = 2, 256*min(c.Hidden, 1)
		r := fitted(t, e, g, c)
		if peak := machine.PeakResidentSet(); float64(r.PredictedBytes) < 0.9*float64(peak) ||
			float64(r.PredictedBytes) > 1.3*float64(peak) {
			t.Errorf("%s: %s were predicted, the process had %s",
				model, machine.Bytes(r.PredictedBytes), machine.Bytes(peak))
		}
	}
}

// TestMemoryAsked checks that the memory of a reverse chain does not grow with its depth, and that no memory is
// predicted for the pure-Go engine.
func TestMemoryAsked(t *testing.T) {
	g := board(t, 40)
	temporary := func(reverse int) int64 {
		s, err := newSession(enginetest.Open(t, engine.CPU), g, 0, func() Config {
			c := small("gcn+rep")
			c.Reverse = reverse
			return c
		}())
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		f := &fit{session: s, result: &Result{}}
		if err := f.start(); err != nil {
			t.Fatal(err)
		}
		defer f.stepper.Finalize()
		var inputs []shapes.Shape
		for _, in := range s.inputs {
			inputs = append(inputs, in.(*tensors.Tensor).Shape())
		}
		program, err := f.stepper.Compile(inputs...)
		if err != nil {
			t.Fatal(err)
		}
		m, known := engine.MemoryOf(program.Executable())
		if !known || m.Temporary <= 0 || m.Arguments <= 0 {
			t.Fatalf("the program tells %+v, %t", m, known)
		}
		return m.Temporary
	}
	// The shallow chain has 128 layers, since chains with at least 128 layers need one array more than shorter chains:
	// their adjoint solves compute a better first guess with it.
	if shallow, deep := temporary(128), temporary(4096); deep > shallow {
		t.Errorf("4096 reverse layers work in %d bytes, 128 in %d", deep, shallow)
	}
	c := small("gcn")
	c.Epochs = 2
	if r := fitted(t, enginetest.Open(t, engine.Go), g, c); r.PredictedBytes != 0 {
		t.Errorf("%d bytes were predicted for the pure-Go engine", r.PredictedBytes)
	}
}

// TestTooLittleMemory checks that a training is refused if it needs more memory than is available. If the lower bound
// [Least] is already more than is available, the training is refused before its program is compiled. Otherwise it is
// refused after compiling, when the memory of the program is known.
func TestTooLittleMemory(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	g := board(t, 100)
	c := small("gat+rep")
	c.Hidden, c.Heads, c.Adjoint = 2048, 2, "unrolled"
	refused := func(limit string) string {
		t.Helper()
		t.Setenv(MemoryVariable, limit)
		_, err := Fit(context.Background(), e, g, 0, c, nil)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Fatalf("%s GiB: want one sentence, got %v", limit, err)
		}
		return err.Error()
	}
	for limit, parts := range map[string][]string{"0.2": {"at least", "choose a smaller --hidden"},
		"1.5": {"about", "try --hidden ", "--heads 1", "--adjoint implicit"}} {
		message := refused(limit)
		for _, part := range append(parts, "gat+rep with hidden 2048", "10000 nodes", " are free") {
			if !strings.Contains(message, part) {
				t.Errorf("%s GiB: %q is not in: %s", limit, part, message)
			}
		}
	}
	if message := refused("much"); !strings.Contains(message, "must be a number of GiB") {
		t.Errorf("got %s", message)
	}
	c = small("gat+rep")
	c.Epochs = 1
	t.Setenv(MemoryVariable, "4")
	if r := fitted(t, e, g, c); r.Status != OK {
		t.Errorf("refused although it fits: %s", r.Message)
	}
}
