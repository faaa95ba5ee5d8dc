package runs

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// TestFlippedBytes changes bytes of an SQLite file, one at a time. Each time, reading the file must give the records
// that were written, or an error. The message of the error must have one line.
func TestFlippedBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	if err := os.WriteFile(path, kept(t, 3), 0o666); err != nil {
		t.Fatal(err)
	}
	read := func() ([]Record, error) {
		s, err := OpenExisting(path)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		return s.Find(Query{Kind: Train})
	}
	want, err := read()
	if err != nil {
		t.Fatal(err)
	}
	caught := 0
	filestest.FlipsOf(t, path, func(at int) {
		got, err := read()
		switch {
		case err == nil && !reflect.DeepEqual(got, want):
			t.Errorf("byte %d: got %+v", at, got)
		case err != nil && (strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path)):
			t.Errorf("byte %d: %q", at, err)
		case err != nil && strings.Contains(err.Error(), "its checksum is wrong"):
			caught++
		}
	})
	if caught < 10 {
		t.Errorf("checksums caught %d changes", caught)
	}
}

// TestFlippedBytesOfExports changes bytes of an export, one at a time. Each time, the import must fail, or read the
// records that were exported.
func TestFlippedBytesOfExports(t *testing.T) {
	s := opened(t)
	add(t, s, example())
	add(t, s, example())
	for _, name := range []string{"r.jsonl", "r.csv"} {
		path := filepath.Join(t.TempDir(), name)
		if _, err := s.Export(path, Query{}); err != nil {
			t.Fatal(err)
		}
		whole, caught := content(t, path), 0
		filestest.Flips(whole, func(at int, flipped []byte) {
			filestest.Parse(t, func() error {
				added, skipped, err := s.ImportNew(name, bytes.NewReader(flipped), nil)
				switch {
				case err == nil && (added != 0 || skipped != 2):
					t.Errorf("%s, byte %d: %d records are other ones, %d the same", name, at, added, skipped)
				case err != nil && strings.Contains(err.Error(), "recorded already"):
					t.Errorf("%s, byte %d: only the records that are there already tell: %v", name, at, err)
				case err != nil && strings.Contains(err.Error(), "by its checksum"):
					caught++
				}
				return err
			})
		})
		if caught < 100 {
			t.Errorf("%s: checksums caught %d changes", name, caught)
		}
	}
}

// withoutSums removes the checksums from an export, as if an earlier version of revgnn had written it.
func withoutSums(b []byte) []byte {
	return regexp.MustCompile(`(?m)(,"sum":"[0-9a-f]*"|,sum$|,[0-9a-f]{64}$)`).ReplaceAll(b, nil)
}

// TestExportsWithoutSums: files without checksums, from an earlier version of revgnn or written by hand, can be
// imported.
func TestExportsWithoutSums(t *testing.T) {
	s := opened(t)
	id := add(t, s, example())
	for _, name := range []string{"r.jsonl", "r.csv"} {
		path := filepath.Join(t.TempDir(), name)
		if _, err := s.Export(path, Query{}); err != nil {
			t.Fatal(err)
		}
		with := content(t, path)
		without, to := withoutSums(with), opened(t)
		if len(with)-len(without) < 64 {
			t.Fatalf("the checksum is still there: %s", without)
		}
		if added, _, err := to.ImportNew(name, bytes.NewReader(without), nil); added != 1 || err != nil ||
			all(t, to)[0].ID != id {
			t.Errorf("%s: added %d, %v", name, added, err)
		}
	}
}

// TestRepair: Repair removes records that were changed, and no others.
func TestRepair(t *testing.T) {
	s := opened(t)
	ids := []string{add(t, s, example()), add(t, s, example()), add(t, s, example())}
	if removed, err := s.Repair(); err != nil || len(removed) != 0 {
		t.Fatalf("removed %v, %v", removed, err)
	}
	if _, err := s.db.Exec("UPDATE runs SET outcome = '{\"test\":0.9}' WHERE id = ?", ids[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(Query{}); err == nil || !strings.Contains(err.Error(), "run "+ids[1]+" is damaged") {
		t.Errorf("got %v", err)
	}
	if removed, err := s.Repair(); err != nil || !reflect.DeepEqual(removed, ids[1:2]) {
		t.Errorf("removed %v, %v", removed, err)
	}
	if found := all(t, s); len(found) != 2 || found[0].ID != ids[0] && found[1].ID != ids[0] {
		t.Errorf("got %+v", found)
	}
}

// TestFilesWithoutSums: an SQLite file without checksums, as an early version of revgnn writes it, can be read without
// being changed. Opening the file for writing adds checksums. If an early version then adds records, opening the file
// for writing again adds the checksums of these records.
func TestFilesWithoutSums(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	if err := os.WriteFile(path, kept(t, 2), 0o666); err != nil {
		t.Fatal(err)
	}
	statement(t, path, "ALTER TABLE runs DROP COLUMN sum")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old, err := OpenExisting(path)
	if err != nil {
		t.Fatal(err)
	}
	want := all(t, old)
	old.Close()
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) || len(want) != 2 {
		t.Errorf("reading %d records changed the file, %v", len(want), err)
	}
	for range 2 {
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := all(t, s); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v", got)
		}
		var without int
		if err := s.db.QueryRow("SELECT count(*) FROM runs WHERE sum = ''").Scan(&without); err != nil || without != 0 {
			t.Errorf("%d records without checksum, %v", without, err)
		}
		s.Close()
		statement(t, path, "UPDATE runs SET sum = ''")
	}
}
