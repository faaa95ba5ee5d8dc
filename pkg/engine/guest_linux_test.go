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

// The test builds and runs a program that trains a model with package train. The settings of the process must stay as
// they are: the memory functions of the C library, the usual number of arenas, and the environment. (Arenas are the
// separate areas from which malloc takes memory for different threads.) The only exception is one environment variable.
// It is set by go-xla, which the program imports.
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
	// The comparison leaves out this variable. If it is unset, go-xla sets it, so that the plugin logs less (in an init
	// function of go-xla's compute/xla/xla.go).
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
