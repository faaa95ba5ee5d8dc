package runs

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Add stores a record under a new ID, as a whole or not at all, and computes an empty key from [Record.definition]. The
// form may change: times in UTC and exact to the millisecond, one line a text, canonical JSON.
func (s *Store) Add(r Record) (id string, err error) {
	if r, err = r.prepared(); err != nil {
		return "", fmt.Errorf("a run cannot be recorded: %w", err)
	}
	err = s.write(func(tx *sql.Tx) error {
		for added := false; !added; { // repeats if a run of the same millisecond has the same random digits
			r.ID = newID(r.Started)
			if added, err = insert(tx, r.cells()); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && s.folder != nil {
		err = s.folder.put(r)
	}
	return r.ID, s.explain(err)
}

func insert(tx *sql.Tx, cells []string) (bool, error) {
	args := make([]any, len(cells))
	for i, c := range cells {
		args[i] = c
	}
	names := strings.Join(append(columnNames(), sumName), `", "`) // quoted, since one of them, commit, is a keyword
	done, err := tx.Exec(`INSERT INTO runs ("`+names+`") VALUES (?`+strings.Repeat(", ?", len(cells))+
		") ON CONFLICT (id) DO NOTHING", append(args, sumOf(cells))...)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n == 1, err
}

// Find returns the records that match a query, by their IDs, and so by their starts, and an error if a record that it
// reads is damaged. Without a key it reads all: SQLite would leave out a record whose dataset is damaged.
func (s *Store) Find(q Query) ([]Record, error) {
	if s.folder != nil {
		if _, err := s.folder.Collect(s); err != nil {
			return nil, err
		}
	}
	clauses, args := "ORDER BY id", []any{}
	if q.Key != "" {
		clauses, args = "WHERE key = ? ORDER BY id", []any{q.Key}
	}
	found, err := s.records(clauses, args...)
	return slices.DeleteFunc(found, func(r Record) bool {
		for _, f := range []struct{ asked, is string }{{q.Kind, r.Kind}, {q.Profile, r.Profile}, {q.Dataset, r.Dataset},
			{q.Model, r.Model}, {q.Key, r.Key}} {
			if f.asked != "" && f.asked != f.is {
				return true
			}
		}
		return len(q.Status) > 0 && !slices.Contains(q.Status, r.Status)
	}), err
}

// state is another text whenever a record may have come.
func (s *Store) state() (string, error) {
	if s.folder != nil {
		if _, err := s.folder.Collect(s); err != nil {
			return "", err
		}
	}
	var others, own int // data_version counts what other connections wrote
	err := s.db.QueryRow("SELECT v.data_version, total_changes() FROM pragma_data_version v").Scan(&others, &own)
	return fmt.Sprint(others, own), s.explain(err)
}

// Last, in place of an ID, stands for the run that started last.
const Last = "last"

// Get returns the record with an ID, of which the first characters are enough if no other begins with them, or [Last].
func (s *Store) Get(id string) (*Record, error) {
	clauses, args := "WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 2", []any{id}
	if id == Last {
		clauses, args = "ORDER BY started DESC, id DESC LIMIT 1", nil
	}
	found, err := s.records(clauses, args...)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0 && id == Last:
		return nil, s.explain(errors.New("no run is recorded yet"))
	case len(found) == 0:
		return nil, s.explain(fmt.Errorf("no run's ID is or starts with %q", id))
	case len(found) > 1:
		return nil, s.explain(fmt.Errorf("several runs' IDs start with %q, such as %s and %s; give more of it",
			id, found[0].ID, found[1].ID))
	}
	return &found[0], nil
}

// Has tells whether the store has a record of the same run as r, under any ID: with the same key, start and outcome.
func (s *Store) Has(r Record) (bool, error) {
	r, err := r.prepared()
	if err != nil {
		return false, fmt.Errorf("a run cannot be looked for: %w", err)
	}
	found, err := s.Find(Query{Key: r.Key})
	return slices.ContainsFunc(found, func(kept Record) bool {
		return kept.Started.Equal(r.Started) && bytes.Equal(kept.Outcome, r.Outcome)
	}), err
}

func (s *Store) records(clauses string, args ...any) ([]Record, error) {
	out := []Record{}
	err := rowsOf(s.db, clauses, args, func(cells []string, sum string) error {
		if sum != "" && sum != sumOf(cells) {
			return fmt.Errorf("run %s is damaged: its checksum is wrong; put a copy of the file in its place, or remove "+
				"damaged runs with 'revgnn runs repair'", line(cells[0]))
		}
		r, err := fromCells(cells)
		if err != nil {
			return damaged(fmt.Sprintf("run %s: %v", line(cells[0]), err))
		}
		out = append(out, r)
		return nil
	})
	return out, s.explain(err)
}

// rowsOf passes on the cells and the checksum of each row that SQL clauses select. The checksum is "" in tables of early
// versions, which have no column for it.
func rowsOf(q querier, clauses string, args []any, each func(cells []string, sum string) error) error {
	rows, err := q.Query("SELECT * FROM runs "+clauses, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	found, err := rows.Columns()
	if err != nil {
		return err
	}
	names := append(columnNames(), sumName)
	if len(found) < len(columns) || !slices.Equal(found, names[:min(len(found), len(names))]) {
		return damaged("its columns are " + strings.Join(found, " "))
	}
	for rows.Next() {
		cells, into := make([]string, len(names)), make([]any, len(found))
		for i := range into {
			into[i] = &cells[i]
		}
		err := rows.Scan(into...)
		if err == nil {
			err = each(cells[:len(columns)], cells[len(columns)])
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

// Records has the records of runs by [Task.Key].
type Records map[string]*Record

// index makes Records of a list, the oldest first, without unreadable ones. Keys are computed anew, since those of
// other versions may differ. The latest record of a task counts, but one of a failed run only if all failed.
func index(all []Record) Records {
	out := Records{}
	for i := range all {
		if t, err := taskOf(&all[i]); err == nil {
			out.add(t, &all[i])
		}
	}
	return out
}

func (r Records) add(t Task, new *Record) {
	key := t.Key()
	old := r[key]
	if old == nil || old.Status == Failed && new.Status != Failed ||
		(old.Status == Failed) == (new.Status == Failed) && new.ID >= old.ID {
		r[key] = new
	}
}

// of returns the record of a task with its key, or nil. A training that diverged or failed has no states: it also
// answers a task that asks for them.
func (r Records) of(t Task, key string) *Record {
	if found := r[key]; found != nil || t.Trace == nil {
		return found
	}
	if plain := r[t.alone().Key()]; plain != nil && plain.Status != OK {
		return plain
	}
	return nil
}
