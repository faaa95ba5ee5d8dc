package engine_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
)

// TestThreads checks that XLA by default uses as many threads as there are cores that this process may use. With more
// threads than cores, threads would wait for each other.
func TestThreads(t *testing.T) {
	enginetest.Open(t, engine.CPU)
	names, _ := filepath.Glob("/proc/self/task/*/comm")
	threads := 0
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil && strings.HasPrefix(string(b), "tf_XLAEigen") {
			threads++
		}
	}
	if threads != runtime.NumCPU() {
		t.Errorf("%d threads compute on %d cores", threads, runtime.NumCPU())
	}
}
