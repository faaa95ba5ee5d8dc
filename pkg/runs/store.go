// Package runs makes runs (trainings, inversions, benchmarks, measurements, trials of searches) and keeps a record of
// each in one SQLite file, the [Store], from which records are exported as text.
//
// A [Task] says what one run does. A [Work] asks a [View] for the results of tasks and makes something of them, such
// as a table; a [Runner] makes the runs that it asks for and that are not recorded yet.
//
// Several processes may use one store: each claims a run before it makes it ([Claims]). A record is on disk when
// [Store.Add] returns, and a write that fails changes nothing. SQLite uses a rollback journal: a write-ahead log does
// not work on network file systems, and a copy of the file without it would lack the latest records.
package runs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
)

// DefaultFile is the file of records unless another one is given.
const DefaultFile = "out/runs.sqlite"

// SQLite's files have both numbers. The first, "revg" in ASCII, says that revgnn wrote it.
const (
	application = 0x72657667
	version     = 1
)

// patience is the longest time that a process waits while others are writing. A write takes milliseconds.
const patience = time.Minute

// Store is an open file of records. Its methods may be called from several goroutines.
type Store struct {
	db     *sql.DB
	path   string
	folder *Folder // of [Folder.Store], whose file is temporary
}

// Open opens or creates a file of records for writing. It refuses a damaged one, and one of another program or of a
// newer revgnn.
func Open(path string) (*Store, error) {
	if _, err := regular(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := files.Writable(filepath.Dir(path)); err != nil { // the journal is written to this folder
		return nil, err
	}
	return open(path, "rwc", (*Store).create)
}

// OpenExisting opens a file that exists, and that need not be writable. An empty file has no records.
func OpenExisting(path string) (*Store, error) {
	size, err := regular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there are no run records at %s: give the file with --runs, or record runs in it first",
			path)
	} else if err != nil {
		return nil, err
	}
	if size == 0 {
		return open(path, "rw", (*Store).create)
	}
	return open(path, "rw", func(s *Store) error { return checkTable(s.db) })
}

func regular(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("cannot open the run records: %w; choose another file", err)
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("cannot open the run records: %s is not a regular file; give the name of an SQLite file",
			path)
	}
	return info.Size(), nil
}

func open(path, mode string, prepare func(*Store) error) (*Store, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the run records at %s: %w", path, err)
	}
	// EXTRA: SQLite would undo a write whose journal survives a power failure, so its removal must be on the disk, too.
	settings := url.Values{"mode": {mode}, "_txlock": {"immediate"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()), "synchronous(EXTRA)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: whole, RawQuery: settings.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("cannot open the run records at %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	s := &Store{db: db, path: path}
	if err := prepare(s); err != nil {
		db.Close()
		return nil, s.explain(err)
	}
	return s, nil
}

func (s *Store) Close() error {
	err := s.explain(s.db.Close())
	if s.folder != nil {
		err = cmp.Or(err, os.RemoveAll(filepath.Dir(s.path)))
	}
	return err
}

func (s *Store) Path() string { return s.path }

// create makes the table if the file is empty, and otherwise checks the file. In both cases it writes, to find out
// whether it may.
func (s *Store) create() error {
	return s.write(func(tx *sql.Tx) error {
		var objects int
		if err := tx.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&objects); err != nil {
			return err
		}
		setVersion := fmt.Sprintf("PRAGMA user_version = %d", version)
		if objects > 0 {
			if err := checkTable(tx); err != nil {
				return err
			}
			if _, err := tx.Exec(setVersion); err != nil {
				return err
			}
			return completeSums(tx)
		}
		var defined []string
		for _, c := range columns {
			defined = append(defined, fmt.Sprintf("%q %s NOT NULL", c.name, c.kind))
		}
		for _, statement := range []string{
			fmt.Sprintf("PRAGMA application_id = %d", application),
			setVersion,
			"CREATE TABLE runs (" + strings.Join(defined, ", ") + ", PRIMARY KEY (id)) STRICT",
			addSums,
			"CREATE INDEX runs_by_key ON runs (key, id)",
		} {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	})
}

type querier interface {
	QueryRow(query string, args ...any) *sql.Row
	Query(query string, args ...any) (*sql.Rows, error)
}

// checkTable returns an error if another program or a newer version wrote the file, or if its structure is damaged.
func checkTable(q querier) error {
	var of, format int
	if err := q.QueryRow("SELECT a.application_id, v.user_version FROM pragma_application_id a, "+
		"pragma_user_version v").Scan(&of, &format); err != nil {
		return err
	}
	switch {
	case of != application:
		return errors.New("it is an SQLite file without run records, of another program; choose another file")
	case format > version:
		return fmt.Errorf("it is of a newer revgnn (format %d, and this one knows %d); update revgnn", format, version)
	case format < version:
		return fmt.Errorf("it has the unknown format %d; choose another file", format)
	}
	var found string
	if err := q.QueryRow("PRAGMA quick_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return damaged(found)
	}
	return nil
}

// write runs f in a transaction, and keeps nothing if f returns an error.
func (s *Store) write(f func(*sql.Tx) error) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

func damaged(what string) error {
	return fmt.Errorf("the file is damaged (%s); put a copy in its place, or move it away and import an export",
		strings.Join(strings.Fields(what), " "))
}

// explain adds the file's name to an error, and to SQLite's errors what the user can do.
func (s *Store) explain(err error) error {
	if err == nil {
		return nil
	}
	var from *sqlite.Error
	if errors.As(err, &from) {
		switch from.Code() & 0xff { // the lower byte is SQLite's general code, the rest is detail
		case codes.SQLITE_NOTADB, codes.SQLITE_CORRUPT:
			err = damaged(from.Error())
		case codes.SQLITE_FULL:
			err = errors.New("the disk is full; nothing was added, and earlier records are kept: " +
				"make room there and run again")
		case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
			err = fmt.Errorf("cannot write it or its folder (%w); choose another file", from)
		case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
			err = fmt.Errorf("another process has been writing to it for %s (%w); run again when that is done",
				patience, from)
		case codes.SQLITE_IOERR:
			err = fmt.Errorf("reading or writing failed (%w); earlier records are kept: see to the disk", from)
		}
	}
	return fmt.Errorf("run records at %s: %w", s.path, err)
}

// SQLite checks the structure of its file, but not the values: each row has a checksum. Rows of early versions get
// theirs when the file is opened for writing.

const (
	sumName   = "sum"
	sumColumn = `"` + sumName + `"`
	addSums   = "ALTER TABLE runs ADD COLUMN " + sumColumn + " TEXT NOT NULL DEFAULT ''"
)

// sumOf returns the SHA-256 of the cells of a row, each after its length, in hex digits.
func sumOf(cells []string) string {
	h := sha256.New()
	for _, c := range cells {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(c))))
		h.Write([]byte(c))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func completeSums(tx *sql.Tx) error {
	var has bool
	err := tx.QueryRow("SELECT count(*) FROM pragma_table_info('runs') WHERE name = 'sum'").Scan(&has)
	if err == nil && !has {
		_, err = tx.Exec(addSums)
	}
	if err != nil {
		return err
	}
	sums := map[string]string{}
	err = rowsOf(tx, "WHERE "+sumColumn+" = ''", nil, func(cells []string, _ string) error {
		sums[cells[0]] = sumOf(cells)
		return nil
	})
	for id, sum := range sums {
		if err == nil {
			_, err = tx.Exec("UPDATE runs SET "+sumColumn+" = ? WHERE id = ?", sum, id)
		}
	}
	return err
}

// Repair removes damaged records, and returns their IDs.
func (s *Store) Repair() (removed []string, err error) {
	removed = []string{}
	err = s.write(func(tx *sql.Tx) error {
		if err := completeSums(tx); err != nil {
			return err
		}
		err := rowsOf(tx, "", nil, func(cells []string, sum string) error {
			if _, unreadable := fromCells(cells); sum != sumOf(cells) || unreadable != nil {
				removed = append(removed, cells[0])
			}
			return nil
		})
		for _, id := range removed {
			if err == nil {
				_, err = tx.Exec("DELETE FROM runs WHERE id = ?", id)
			}
		}
		return err
	})
	if err != nil {
		return nil, s.explain(err)
	}
	return removed, nil
}

// AddCommitted adds the run records that come with revgnn (data/records).
func (s *Store) AddCommitted() (added int, err error) {
	for name, text := range data.Records() {
		n, _, err := s.ImportNew(name, bytes.NewReader(text), nil)
		if err != nil {
			return added, err
		}
		added += n
	}
	return added, nil
}
