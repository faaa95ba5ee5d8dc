package runs

import (
	"bytes"

	"github.com/revgnn/revgnn/data"
)

// AddCommitted adds the run records that come with revgnn (data/records).
func (s *Store) AddCommitted() (added int, err error) {
	names, err := data.Records()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		text, err := data.Record(name)
		if err != nil {
			return added, err
		}
		n, _, err := s.ImportFrom(name, bytes.NewReader(text))
		if err != nil {
			return added, err
		}
		added += n
	}
	return added, nil
}
