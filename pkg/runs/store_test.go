package runs

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func example() Record {
	r := Begin(Train)
	r.Profile, r.Dataset, r.Model, r.Engine, r.Split, r.Seed, r.Seconds, r.Status = "quick", "cora", "gcn+rep", "go",
		3, 1<<64-1, 1.234, OK
	r.Checksum = strings.Repeat("0a", 32)
	r.Config = json.RawMessage(`{"hidden": 64, "lr": 5e-3, "seed": 18446744073709551615}`)
	r.Outcome = json.RawMessage(`{"test": 0.8123456789012345, "val": null, "note": "<a & b>"}`)
	return r
}

func opened(t *testing.T) *Store {
	t.Helper()
	// SQLite opens the file by a URI. Some characters of this file name have a special meaning in a URI: Open must
	// escape them.
	s, err := Open(filepath.Join(t.TempDir(), "new", "runs ?#%41.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func add(t *testing.T, s *Store, r Record) string {
	t.Helper()
	id, err := s.Add(r)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func all(t *testing.T, s *Store) []Record {
	t.Helper()
	found, err := s.Find(Query{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAddGet(t *testing.T) {
	s := opened(t)
	r := example()
	r.Message, r.Machine.CPU = "first line\r\nsecond\x00 \xff line", "a, \"b\""
	id := add(t, s, r)
	got, err := s.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.prepared()
	if err != nil {
		t.Fatal(err)
	}
	want.ID = id
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	if string(got.Config) != `{"hidden":64,"lr":0.005,"seed":18446744073709551615}` ||
		got.Message != "first line  second  � line" || got.Seed != 1<<64-1 {
		t.Errorf("got %s, %q, %d", got.Config, got.Message, got.Seed)
	}
	if got.Versions["go"] == "" || got.Machine.Platform == "" || got.Machine.Cores < 1 ||
		time.Since(got.Started) > time.Minute {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(s.Path()); err != nil {
		t.Errorf("the file has another name: %v", err)
	}
	if byPrefix, err := s.Get(id[:5]); err != nil || byPrefix.ID != id {
		t.Errorf("by prefix: %v, %v", byPrefix, err)
	}
	r.Started = got.Started.Add(-time.Millisecond)
	add(t, s, r)
	if last, err := s.Get(Last); err != nil || last.ID != id {
		t.Errorf("the last run is %v, %v, want %s", last, err, id)
	}
	for prefix, want := range map[string]string{"zzz": "no run's ID", id[:5]: "several runs", "%": "no run's ID"} {
		if _, err := s.Get(prefix); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q", prefix, err, want)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	s := opened(t)
	for want, spoil := range map[string]func(*Record){
		`kind is "walk"`:         func(r *Record) { r.Kind = "walk" },
		`status is ""`:           func(r *Record) { r.Status = "" },
		"split is -2":            func(r *Record) { r.Split = -2 },
		"seconds is NaN":         func(r *Record) { r.Seconds = math.NaN() },
		"started is 0001":        func(r *Record) { r.Started = time.Time{} },
		"config is not JSON":     func(r *Record) { r.Config = json.RawMessage("{") },
		"outcome is [1]":         func(r *Record) { r.Outcome = json.RawMessage("[1]") },
		"after top-level value":  func(r *Record) { r.Outcome = json.RawMessage("{} {}") },
		"a number does not fit":  func(r *Record) { r.Outcome = json.RawMessage(`{"a":[1e999]}`) },
		`key is "k": it must be`: func(r *Record) { r.Key = "k" },
		`checksum is "c"`:        func(r *Record) { r.Checksum = "c" },
	} {
		r := example()
		spoil(&r)
		if _, err := s.Add(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	if n := len(all(t, s)); n != 0 {
		t.Errorf("%d records were kept", n)
	}
}

func TestFind(t *testing.T) {
	s := opened(t)
	started := time.Now()
	var keys []string
	for i, status := range []string{OK, Diverged, Failed, Interrupted, OK} {
		r := example()
		// The runs are added from the latest start to the earliest, so that Find must sort them.
		r.Started, r.Status, r.Split = started.Add(-time.Duration(i)*time.Second), status, i%3
		add(t, s, r)
		keys = append(keys, Key(r.definition()))
	}
	found := all(t, s)
	for i := range found[1:] {
		if !found[i].Started.Before(found[i+1].Started) || found[i].ID >= found[i+1].ID {
			t.Errorf("run %d is not before run %d", i, i+1)
		}
	}
	for _, c := range []struct {
		q    Query
		want int
	}{
		{Query{Status: []string{Diverged, Interrupted, Failed}}, 3}, {Query{Status: []string{OK}}, 2},
		{Query{Kind: Train, Dataset: "cora", Model: "gcn+rep", Profile: "quick"}, 5},
		{Query{Key: keys[0]}, 2}, {Query{Key: keys[1], Status: []string{OK}}, 1}, {Query{Kind: Bench}, 0},
		{Query{Dataset: "%"}, 0},
	} {
		if found, err := s.Find(c.q); err != nil || len(found) != c.want {
			t.Errorf("%+v finds %d, %v, want %d", c.q, len(found), err, c.want)
		}
	}
}

func TestFullDisk(t *testing.T) {
	s := opened(t)
	id := add(t, s, example())
	if _, err := s.db.Exec("PRAGMA max_page_count = 12"); err != nil { // makes SQLite report a full disk
		t.Fatal(err)
	}
	big := example()
	big.Outcome = json.RawMessage(`{"a": "` + strings.Repeat("x", 100_000) + `"}`)
	if _, err := s.Add(big); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("the error is %v", err)
	}
	if found := all(t, s); len(found) != 1 || found[0].ID != id {
		t.Errorf("got %+v", found)
	}
	add(t, s, example()) // a small record still fits
}
