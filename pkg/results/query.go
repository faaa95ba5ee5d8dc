package results

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Add stores a record under a new ID, and returns the ID. The record is stored as a whole or not at all. Add computes
// the key if it is empty (see [Record.Definition]), and changes times to UTC in milliseconds, texts to one line, and
// config and outcome to canonical JSON (see [Key]).
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
	return r.ID, s.explain(err)
}

// insert adds a row, and tells whether its ID was new.
func insert(tx *sql.Tx, cells []string) (bool, error) {
	args := make([]any, len(cells))
	for i, c := range cells {
		args[i] = c
	}
	done, err := tx.Exec("INSERT INTO runs ("+columnList()+", "+sumColumn+") VALUES (?"+
		strings.Repeat(", ?", len(cells))+") ON CONFLICT (id) DO NOTHING", append(args, sumOf(cells))...)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n == 1, err
}

// Find returns the records that match a query, in the order of their IDs, which is the order in which the runs started.
//
// If the query has no key, Find reads all records, checks their checksums, and then compares their fields with the
// query. (If SQLite compared the fields, a record with, say, a damaged dataset would be left out without a message.) If
// the query has a key, SQLite selects the records with this key, which is faster. Only the selected records are then
// checked.
func (s *Store) Find(q Query) ([]Record, error) {
	clauses, args := "ORDER BY id", []any{}
	if q.Key != "" {
		clauses, args = "WHERE key = ? ORDER BY id", []any{q.Key}
	}
	found, err := s.records(clauses, args...)
	return slices.DeleteFunc(found, func(r Record) bool { return !q.chooses(r) }), err
}

// chooses tells whether a record matches the query.
func (q Query) chooses(r Record) bool {
	for _, f := range []struct{ asked, is string }{{q.Kind, r.Kind}, {q.Profile, r.Profile}, {q.Dataset, r.Dataset},
		{q.Model, r.Model}, {q.Key, r.Key}} {
		if f.asked != "" && f.asked != f.is {
			return false
		}
	}
	return len(q.Status) == 0 || slices.Contains(q.Status, r.Status)
}

// Last can be given to [Store.Get] in place of an ID. It stands for the run that started last.
const Last = "last"

// Get returns the record with the given ID, or the only record whose ID begins with id. For [Last] it returns the
// record of the run that started last.
func (s *Store) Get(id string) (*Record, error) {
	if id == Last {
		found, err := s.records("ORDER BY started DESC, id DESC LIMIT 1")
		if err == nil && len(found) == 0 {
			err = s.explain(errors.New("no run is recorded yet"))
		}
		if err != nil {
			return nil, err
		}
		return &found[0], nil
	}
	found, err := s.records("WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 2", id)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, s.explain(fmt.Errorf("no run's ID is or starts with %q", id))
	case len(found) > 1:
		return nil, s.explain(fmt.Errorf("several runs' IDs start with %q, such as %s and %s; give more of it",
			id, found[0].ID, found[1].ID))
	}
	return &found[0], nil
}

// Done returns the latest record that has the given key and the status ok or diverged; nil if there is none. A run with
// such a record need not be repeated.
func (s *Store) Done(key string) (*Record, error) {
	found, err := s.records("WHERE key = ? AND status IN (?, ?) ORDER BY id DESC LIMIT 1", key, OK, Diverged)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Has tells whether the store already has a record of the same run as r: one with the same key, start and outcome. The
// IDs of the two records may differ.
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

// records returns the records that the given SQL clauses select. It returns an error if one of these records is
// damaged.
func (s *Store) records(clauses string, args ...any) ([]Record, error) {
	out, sum := []Record{}, "''"
	if s.sums {
		sum = sumColumn
	}
	err := rowsOf(s.db, sum, clauses, args, func(cells []string, sum string) error {
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

// rowsOf calls the function each for every row that the given SQL clauses select, with the row's cells and its
// checksum. The argument sum is the checksum in SQL: the name of its column, or an empty text if the table has no such
// column.
func rowsOf(q querier, sum, clauses string, args []any, each func(cells []string, sum string) error) error {
	rows, err := q.Query("SELECT "+columnList()+", "+sum+" FROM runs "+clauses, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		cells, sum, err := scanSum(rows)
		if err == nil {
			err = each(cells, sum)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

// scanSum reads a row, as cells, and its checksum.
func scanSum(row interface{ Scan(...any) error }) (cells []string, sum string, err error) {
	cells = make([]string, len(columns))
	var into []any
	for i := range cells {
		into = append(into, &cells[i])
	}
	err = row.Scan(append(into, &sum)...)
	return cells, sum, err
}
