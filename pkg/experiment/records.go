package experiment

import (
	"bytes"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/results"
)

// Records are runs by the key of what they ran ([Task.Key]).
type Records map[string]*results.Record

// Index sorts records, oldest first, by what they ran; the key that they are stored under does not count, since other
// versions made it otherwise. The latest counts, and of a run that failed and one that did not, the latter. Records
// that can't be read are left out.
func Index(all []results.Record) Records {
	out := Records{}
	for i := range all {
		t, err := taskOf(&all[i])
		if err != nil {
			continue
		}
		key := t.Key()
		old := out[key]
		if old == nil || old.Status == results.Failed || all[i].Status != results.Failed {
			out[key] = &all[i]
		}
	}
	return out
}

// Of is the record of a task; nil where there is none. A training that went wrong has no states to follow, whoever
// asks for them.
func (r Records) Of(t Task) *results.Record {
	if found := r[t.Key()]; found != nil || t.Follow == nil {
		return found
	}
	if plain := r[t.alone().Key()]; plain != nil && plain.Status != results.OK {
		return plain
	}
	return nil
}

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
