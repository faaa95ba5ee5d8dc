package runs

import (
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
)

// TestSettingsAreNoResults: the outcome of a benchmark has its settings, and later versions of revgnn have others. A
// repetition does not compare them.
func TestSettingsAreNoResults(t *testing.T) {
	r := &Record{Status: OK, Outcome: []byte(`{"config":{"heads":1},"epoch_seconds":0.5,"nodes":3}`)}
	if got := outcomeOf(r); len(got) != 2 || got["nodes"] != 3.0 || got["status"] != OK {
		t.Errorf("got %v", got)
	}
}

// TestThreads: results of the pure-Go engine do not depend on the number of threads, and it records none.
func TestThreads(t *testing.T) {
	r := &Record{Engine: engine.CPU, Machine: Machine{Cores: 4}}
	if got := ThreadsOf(r); got != 4 {
		t.Errorf("xla:cpu: %d", got)
	}
	if r.Outcome = []byte(`{"threads":2}`); ThreadsOf(r) != 2 {
		t.Errorf("recorded: %d", ThreadsOf(r))
	}
	r.Engine, r.Outcome = engine.Go, nil
	if got := ThreadsOf(r); got != 0 {
		t.Errorf("pure Go: %d", got)
	}
}
