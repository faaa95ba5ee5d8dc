package runs

import (
	"maps"
	"slices"
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

// TestProcessors: two processors of one name may differ, and a record of an earlier version does not say which it was.
func TestProcessors(t *testing.T) {
	now := Begin(Measure)
	now.Machine = Machine{CPU: "AMD EPYC", Family: "25", Model: "1", Features: "avx2 fma"}
	then, old := now, now
	then.Machine.Model, then.Machine.Features = "17", "avx2 avx512f fma"
	old.Machine = Machine{CPU: "AMD EPYC"}
	for _, c := range []struct {
		then Record
		want []Change
	}{
		{now, nil},
		{then, []Change{{"processor features", "avx2 avx512f fma", "avx2 fma"}, {"processor model", "17", "1"}}},
		{old, []Change{{"processor family", notRecorded, "25"}, {"processor features", notRecorded, "avx2 fma"},
			{"processor model", notRecorded, "1"}}},
	} {
		if got := changes(circumstances(&c.then), circumstances(&now)); !slices.Equal(got, c.want) {
			t.Errorf("got %v; want %v", got, c.want)
		}
	}
	if !now.Machine.Same(old.Machine) || now.Machine.Same(then.Machine) {
		t.Error("costs of one machine are taken for those of another")
	}
}

// TestProcessorIsKept: a record comes back from the cells of its row with the processor and with no other versions. The
// cells of a record without a processor are those of earlier versions of revgnn.
func TestProcessorIsKept(t *testing.T) {
	r := Begin(Measure)
	r.Machine.Family, r.Machine.Model, r.Machine.Features = "25", "1", "avx2 fma"
	got, err := fromCells(r.cells())
	if err != nil || got.Machine != r.Machine || !maps.Equal(got.Versions, r.Versions) {
		t.Errorf("got %+v, %v, %v", got.Machine, got.Versions, err)
	}
	r.Machine, r.Versions = Machine{}, map[string]string{"go": "go1.26"}
	if text := r.cells()[len(columns)-3]; text != `{"go":"go1.26"}` {
		t.Errorf("versions are %s", text)
	}
}
