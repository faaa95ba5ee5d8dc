package runs

import (
	"maps"
	"time"
)

// Records has the records of runs. The key of a record in this map is the key of its task ([Task.Key]).
type Records map[string]*Record

// Index makes a map of the given records (see [Records]). The list must be ordered by time, the oldest record first.
// The keys are computed anew, since other versions of revgnn may have computed the stored keys differently. If a task
// has several records, the latest one counts. A record of a failed run counts only if all runs of the task failed.
// Unreadable records are left out.
func Index(all []Record) Records {
	out := Records{}
	for i := range all {
		t, err := taskOf(&all[i])
		if err != nil {
			continue
		}
		key := t.Key()
		old := out[key]
		if old == nil || old.Status == Failed || all[i].Status != Failed {
			out[key] = &all[i]
		}
	}
	return out
}

// forgetFailed removes the records of runs that began before the given time and failed. Such runs are made again.
func (r Records) forgetFailed(before time.Time) {
	maps.DeleteFunc(r, func(_ string, made *Record) bool {
		return made.FailedBefore(before)
	})
}

// Of returns the record of a task, or nil if there is none. The record of a training that diverged or failed has no
// states. If the task asks for states ([Task.Follow]), but its training diverged or failed, Of returns this record
// without states.
func (r Records) Of(t Task) *Record {
	if found := r[t.Key()]; found != nil || t.Follow == nil {
		return found
	}
	if plain := r[t.alone().Key()]; plain != nil && plain.Status != OK {
		return plain
	}
	return nil
}
