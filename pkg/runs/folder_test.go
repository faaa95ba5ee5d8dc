package runs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/runs"
)

// Two stores of one folder have the same records at any time, and so has a third one that collects them. Of two claims
// to a run, the folder grants one.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	began := time.Now().Add(-time.Second)
	open := func() (*runs.Folder, *runs.Store) {
		f, err := runs.OpenFolder(filepath.Join(dir, "records"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Store()
		if err != nil {
			t.Fatal(err)
		}
		return f, s
	}
	before, err := runs.Open(filepath.Join(dir, "before.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	add := func(s *runs.Store, status string) {
		r := runs.Begin(runs.Measure)
		r.Dataset, r.Status, r.Outcome = "cora", status, []byte("{}")
		if status == runs.Failed {
			r.Message = "needs 2 GiB: set REVGNN_MEMORY"
		}
		if _, err := s.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	count := func(s *runs.Store) int {
		all, err := s.Find(runs.Query{})
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	add(before, runs.OK)
	_, a := open()
	f, b := open()
	if n, err := f.Give(before); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	add(a, runs.OK)
	add(b, runs.Failed)
	if count(a) != 3 || count(b) != 2 {
		// b's folder gave the earlier records away, and does not read them again
		t.Errorf("%d and %d records, want 3 and 2", count(a), count(b))
	}
	if added, err := f.Collect(before); err != nil || added != 0 {
		t.Errorf("%d records are new: %v", added, err)
	}
	if all, failed, starved, err := f.Count(began); all != 2 || failed != 1 || starved != 1 || err != nil {
		t.Errorf("%d records, %d failed, %d for memory, %v", all, failed, starved, err)
	}
	one, err := runs.ClaimsOf(a).Try("key")
	if one == nil || err != nil {
		t.Fatal(err)
	}
	if two, err := runs.ClaimsOf(b).Try("key"); two != nil || err != nil {
		t.Errorf("both have the claim: %v", err)
	}
	one.Release()
	file := a.Path()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Errorf("%s is still there", file)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}
