package experiment

import (
	"bytes"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/results"
)

// Records are runs by the key of what they ran ([Task.Key]).
type Records map[string]*results.Record

// Index sorts records, oldest first, by the keys of their tasks. Stored keys are not used, since other versions
// computed them differently. Of several runs of a task the latest counts, but a run that failed counts only if no
// other did not. Unreadable records are left out.
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

// Of is the record of a task, or nil. A training that went wrong has no states to follow, so that its record counts
// whatever the task follows.
func (r Records) Of(t Task) *results.Record {
	if found := r[t.Key()]; found != nil || t.Follow == nil {
		return found
	}
	if plain := r[t.alone().Key()]; plain != nil && plain.Status != results.OK {
		return plain
	}
	return nil
}

// AddCommitted adds the run records that come with the programme to a store, and returns how many were new.
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
