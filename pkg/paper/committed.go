package paper

import (
	"bytes"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/results"
)

// AddCommitted adds the run records that came with the programme to a store, and tells how many were new.
func AddCommitted(store *results.Store) (added int, err error) {
	names, err := data.Records()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		text, err := data.Record(name)
		if err != nil {
			return added, err
		}
		n, _, err := store.ImportFrom(name, bytes.NewReader(text))
		if err != nil {
			return added, err
		}
		added += n
	}
	return added, nil
}
