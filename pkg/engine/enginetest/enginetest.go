// Package enginetest opens the engines that tests run on.
package enginetest

import (
	"os"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
)

// Names are the names of the engines on which [Each] runs tests.
var Names = []string{engine.CUDA, engine.CPU, engine.Go}

// Each runs a test on every engine, in a subtest for each engine. If there is no NVIDIA GPU, the subtest for CUDA is
// skipped. If the CPU plugin is not installed, the subtest for XLA on the CPU is skipped, too. But it fails if the
// environment variable REVGNN_TEST_XLA is set. `make test` sets this variable.
func Each(t *testing.T, test func(t *testing.T, e *engine.Engine)) {
	for _, name := range Names {
		t.Run(name, func(t *testing.T) { test(t, Open(t, name)) })
	}
}

// Open opens an engine by name. If the engine is CUDA and there is no NVIDIA GPU, Open skips the test. If the engine is
// XLA on the CPU and cannot be opened, Open skips the test, too, unless the environment variable REVGNN_TEST_XLA is
// set. In all other cases, the test fails if the engine cannot be opened.
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
