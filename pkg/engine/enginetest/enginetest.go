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

// engines are the open engines by name: to open one takes a twentieth of a second, most of it to search plugins.
var engines sync.Map

// Open returns the engine of a name, which all tests of a package share. It skips the test without an NVIDIA GPU for
// CUDA, and without the plugin for XLA on the CPU, unless REVGNN_TEST_XLA is set, as `make test` does.
func Open(t testing.TB, name string) *engine.Engine {
	t.Helper()
	if name == engine.CUDA && !engine.HasGPU() {
		t.Skip("no NVIDIA GPU, not tested there")
	}
	if e, ok := engines.Load(name); ok {
		return e.(*engine.Engine)
	}
	e, err := engine.Open(name)
	if err != nil {
		if name == engine.CPU && os.Getenv("REVGNN_TEST_XLA") == "" {
			t.Skipf("no XLA CPU plugin, not tested there: %v", err)
		}
		t.Fatal(err)
	}
	engines.Store(name, e)
	return e
}
