//go:build linux && cgo

package engine_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
)

// TestGuest builds and runs a program that trains a model with package train. Package train must not change settings of
// the process. So malloc and the other memory functions must be those of the C library, and malloc must not be limited
// to a few arenas. (Arenas are separate areas of memory, from which malloc serves different threads.) The environment
// must be the same after training as before, except for one variable, which go-xla sets.
func TestGuest(t *testing.T) {
	enginetest.Open(t, engine.CPU)
	guest := filepath.Join(t.TempDir(), "guest")
	if out, err := exec.Command("go", "build", "-o", guest, "./testdata/guest").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	functions := []string{"malloc", "calloc", "free", "realloc", "posix_memalign", "aligned_alloc",
		"mallopt", "malloc_trim"}
	run := exec.Command(guest, functions...)
	run.Env = append(os.Environ(), engine.Variable+"="+engine.CPU)
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Owners      map[string]string
		Environment []string
		Arenas      int
		Loss        float64
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	for _, name := range functions {
		if file := filepath.Base(report.Owners[name]); !strings.HasPrefix(file, "libc.so") &&
			!strings.HasPrefix(file, "libc-") {
			t.Errorf("%s is that of %q, not the C library's", name, report.Owners[name])
		}
	}
	if report.Arenas <= 4 {
		t.Errorf("malloc made %d arenas for 8 threads", report.Arenas)
	}
	// The comparison of the environments leaves out the variable TF_CPP_MIN_LOG_LEVEL. If the variable is unset, an
	// init function of go-xla (in compute/xla/xla.go) sets it, so that the plugin logs less.
	const gone = "TF_CPP_MIN_LOG_LEVEL="
	mine := func(e string) bool { return strings.HasPrefix(e, gone) }
	before, after := slices.DeleteFunc(run.Environ(), mine), slices.DeleteFunc(report.Environment, mine)
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(slices.Compact(before), after) {
		t.Errorf("the environment is\n%q\nafter training, and was\n%q", after, before)
	}
	if !(report.Loss > 0) {
		t.Errorf("the training's loss is %g", report.Loss)
	}
}
