// Package enginetest opens the engines that tests run on.
package enginetest

import (
	"os"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
)

// Each runs the test on XLA CPU and on the pure-Go engine. Without the plugin the XLA half is skipped, and says so; where
// REVGNN_TEST_XLA is set, as `make test` does, it fails instead.
func Each(t *testing.T, test func(t *testing.T, e *engine.Engine)) {
	for _, name := range []string{engine.CPU, engine.Go} {
		t.Run(name, func(t *testing.T) { test(t, Open(t, name)) })
	}
}

// Open opens an engine by name, as [Each] does.
func Open(t testing.TB, name string) *engine.Engine {
	t.Helper()
	e, err := engine.Open(name)
	if err != nil {
		if name == engine.CPU && os.Getenv("REVGNN_TEST_XLA") == "" {
			t.Skipf("no XLA CPU plugin, not tested there: %v", err)
		}
		t.Fatal(err)
	}
	return e
}
