package runs

// Records has the records of runs by [Task.Key].
type Records map[string]*Record

// Index makes Records of a list, the oldest first. Keys are computed anew, since other versions may have computed the
// stored ones differently. The latest record of a task counts, but one of a failed run only if all failed. Unreadable
// records are left out.
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

// Of returns the record of a task, or nil. A training that diverged or failed has no states: it also answers a task
// that asks for them.
func (r Records) Of(t Task) *Record {
	if found := r[t.Key()]; found != nil || t.Follow == nil {
		return found
	}
	if plain := r[t.alone().Key()]; plain != nil && plain.Status != OK {
		return plain
	}
	return nil
}
