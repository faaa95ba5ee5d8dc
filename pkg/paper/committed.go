package paper

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/results"
)

// AddCommitted adds the run records that came with the programme to a store, and tells how many were new.
func AddCommitted(store *results.Store) (added int, err error) {
	names, err := data.Records()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "revgnn-records")
	if err != nil {
		return 0, fmt.Errorf("the records that came with revgnn cannot be read: %w", err)
	}
	defer os.RemoveAll(dir)
	for _, name := range names {
		text, err := data.Record(name)
		if err != nil {
			return added, err
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return added, fmt.Errorf("the records that came with revgnn cannot be read: %w", err)
		}
		n, _, err := store.Import(path)
		if err != nil {
			return added, err
		}
		added += n
	}
	return added, nil
}
