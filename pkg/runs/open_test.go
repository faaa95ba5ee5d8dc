package runs

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole := kept(t, 40)
	cut := append([]byte{}, whole[:len(whole)/2]...)
	spoilt := append([]byte{}, whole...)
	for i := len(spoilt) / 2; i < len(spoilt)/2+8192; i++ {
		spoilt[i] = 0xa5
	}
	foreign, newer := filepath.Join(dir, "foreign"), put("newer", whole)
	statement(t, foreign, "CREATE TABLE other (x)")
	statement(t, newer, "PRAGMA user_version = 2")
	for path, want := range map[string]string{
		dir: "is not a regular file", put("text", []byte("id,key,kind\n")): "is damaged",
		put("cut", cut): "is damaged", put("spoilt", spoilt): "is damaged",
		foreign: "of another program", newer: "of a newer revgnn (format 2", os.DevNull: "is not a regular file",
	} {
		for how, open := range map[string]func(string) (*Store, error){"Open": Open, "OpenExisting": OpenExisting} {
			if _, err := open(path); err == nil || !strings.Contains(err.Error(), want) ||
				!strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s(%s): the error is %v, want %q", how, path, err, want)
			}
		}
	}
	if _, err := Open(filepath.Join(put("file", nil), "runs.sqlite")); err == nil {
		t.Error("a file below a file was opened")
	}
	if _, err := OpenExisting(filepath.Join(dir, "none")); err == nil ||
		!strings.Contains(err.Error(), "no run records at") {
		t.Errorf("the error is %v", err)
	}
	for how, open := range map[string]func(string) (*Store, error){"Open": Open, "OpenExisting": OpenExisting} {
		s, err := open(put("empty", nil))
		if err != nil {
			t.Errorf("%s: an empty file: %v", how, err)
			continue
		}
		if n := len(all(t, s)); n != 0 {
			t.Errorf("%s: an empty file has %d records", how, n)
		}
		s.Close()
	}
}

func TestReadOnly(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anything: files without permission are not tested here")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "runs.sqlite")
	if err := os.WriteFile(path, kept(t, 1), 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "cannot write") {
		t.Errorf("the error is %v", err)
	}
	s, err := OpenExisting(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := len(all(t, s)); n != 1 {
		t.Errorf("%d records of 1", n)
	}
}

// kept returns the bytes of an SQLite file with n records.
func kept(t *testing.T, n int) []byte {
	t.Helper()
	s := opened(t)
	for range n {
		add(t, s, example())
	}
	b, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func statement(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}
