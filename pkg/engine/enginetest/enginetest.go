// Package enginetest opens the engines that tests run on.
package enginetest

import (
	"os"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
)

// Names are the names of the engines that tests run on.
var Names = []string{engine.CUDA, engine.CPU, engine.Go}

// Each runs a test on every engine, as a subtest for each. The subtest for CUDA is skipped with a message if there is
// no NVIDIA GPU. The subtest for XLA on the CPU is skipped with a message if there is no CPU plugin. But if
// REVGNN_TEST_XLA is set, as `make test` does, it fails instead.
func Each(t *testing.T, test func(t *testing.T, e *engine.Engine)) {
	for _, name := range Names {
		t.Run(name, func(t *testing.T) { test(t, Open(t, name)) })
	}
}

// Open opens an engine by name. It skips or fails the test as [Each] does if the engine is not there.
func Open(t testing.TB, name string) *engine.Engine {
	t.Helper()
	if name == engine.CUDA && !engine.HasGPU() {
		t.Skip("no NVIDIA GPU, not tested there")
	}
	e, err := engine.Open(name)
	if err != nil {
		if name == engine.CPU && os.Getenv("REVGNN_TEST_XLA") == "" {
			t.Skipf("no XLA CPU plugin, not tested there: %v", err)
		}
		t.Fatal(err)
	}
	return e
}
