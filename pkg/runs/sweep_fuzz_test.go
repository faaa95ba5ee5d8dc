package runs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// FuzzRecord reads the record of a split ([Record]) from a file with arbitrary content. Reading must not panic, and
// must not allocate too much memory. An error must have exactly one line.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"dataset":"cora","model":"gcn","config":{"model":"gcn","hidden":8},"split":1,"status":"ok"}`))
	f.Add([]byte(`{"config":{"model":"none","hidden":1e99},"split":-1,"history":[{"epoch":1e400}]}`))
	f.Add([]byte(`{"config":null,"best_epoch":-1}`))
	path := filepath.Join(f.TempDir(), splitName(0, recordEnd))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		filestest.Parse(t, func() error {
			r, err := readSplitRecord(path)
			if err == nil {
				r.Origin.Difference(r.Origin)
			}
			return err
		})
	})
}
