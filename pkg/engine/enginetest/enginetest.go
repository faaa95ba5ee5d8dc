// Package enginetest opens the engines that tests run on.
package enginetest

import (
	"os"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
)

// Names are the engines that tests run on.
var Names = []string{engine.CUDA, engine.CPU, engine.Go}

// Each runs the test on every engine. Without an NVIDIA GPU, or without the CPU's plugin, that part is skipped, and
// says so; where REVGNN_TEST_XLA is set, as `make test` does, a missing CPU plugin fails the test instead.
func Each(t *testing.T, test func(t *testing.T, e *engine.Engine)) {
	for _, name := range Names {
		t.Run(name, func(t *testing.T) { test(t, Open(t, name)) })
	}
}

// Open opens an engine by name, as [Each] does.
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
