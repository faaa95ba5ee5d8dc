// Package enginetest opens the engines that tests run on.
package enginetest

import (
	"os"
	"sync"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
)

// Names are the names of the engines on which [Each] runs tests.
var Names = []string{engine.CUDA, engine.CPU, engine.Go}

// Each runs a test on every engine, in a subtest each, as [Open] opens it.
func Each(t *testing.T, test func(t *testing.T, e *engine.Engine)) {
	for _, name := range Names {
		t.Run(name, func(t *testing.T) { test(t, Open(t, name)) })
	}
}

// Plugin names the environment variable with a folder of the wheels of XLA's CUDA plugin and its assembler. Where it is
// set and there is no NVIDIA GPU, tests on CUDA compile their programs for an H100, and then run on the CPU.
const Plugin = "REVGNN_TEST_CUDA"

var (
	// engines are the open engines by name: to open one takes a twentieth of a second, most of it to search plugins.
	engines = map[string]*engine.Engine{}
	mutex   sync.Mutex
)

// Open returns the engine of a name, which all tests of a package share. It skips the test for CUDA with neither an
// NVIDIA GPU nor [Plugin], and without the plugin for XLA on the CPU, unless REVGNN_TEST_XLA is set, as `make test`
// does.
func Open(t testing.TB, name string) *engine.Engine {
	t.Helper()
	mutex.Lock()
	defer mutex.Unlock()
	if e, ok := engines[name]; ok {
		return e
	}
	open := func() (*engine.Engine, error) { return engine.Open(name) }
	if name == engine.CUDA && !engine.HasGPU() {
		if os.Getenv(Plugin) == "" {
			t.Skip("no NVIDIA GPU, not tested there")
		}
		open = described
	}
	e, err := open()
	if err != nil {
		if name == engine.CPU && os.Getenv("REVGNN_TEST_XLA") == "" {
			t.Skipf("no XLA CPU plugin, not tested there: %v", err)
		}
		t.Fatal(err)
	}
	engines[name] = e
	return e
}
