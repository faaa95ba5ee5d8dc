package paper

import (
	"strings"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/runs"
)

// TestProvenanceOfDoubtfulRuns: a page says how many records have neither a commit nor a version of revgnn. It also
// says how many runs were made by older commits of revgnn, and have numbers that today's program does not repeat.
func TestProvenanceOfDoubtfulRuns(t *testing.T) {
	day := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	run := func(commit, version, dataset string) *runs.Record {
		return &runs.Record{Kind: runs.Train, Model: "gcn", Dataset: dataset, Commit: commit, Started: day,
			Status: runs.OK, Engine: "xla:cpu", Versions: map[string]string{"revgnn": version, "go": "go1.26.8"}}
	}
	d := &Document{Records: []*runs.Record{run("b5ad8eed3c22", "(devel)", "cora"), run("", "(devel)", "tolokers"),
		run("", "(devel)", "tolokers"), run("af5f942a7b34", "af5f942a7b34", "cora"), run("", "v1.2.3", "cora"),
		run("0123456789ab", "v1.0.0-20261122203419-0123456789ab", "cora")}}
	text := strings.Join(d.Provenance(Quick()), "\n")
	for _, want := range []string{"2 of 6 runs, of 2026-11-21, name neither commit nor version",
		"2 × train gcn on tolokers", "1 of 6 runs, of 2026-11-21, is of older builds: with the same settings", "af5f942a7b34; b5ad8eed3c22; v1.0.0-20261122203419-0123456789ab; v1.2.3"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "devel") || strings.Contains(text, "not known") {
		t.Errorf("it still says\n%s", text)
	}
	table := who(d.Records)
	if html, err := table.HTML(); err != nil || len(table.Rows) != 1 || !strings.Contains(html, "2 × train gcn") {
		t.Errorf("%v: %s", err, html)
	}
}
