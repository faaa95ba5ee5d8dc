package engine

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestProgramsBound checks which programs are removed if the folder of kept programs becomes too large: the most
// recently used programs must stay.
func TestProgramsBound(t *testing.T) {
	dir := private(t)
	program := make([]byte, 100)
	for i, name := range []string{"a", "b", "c"} {
		dir.store(name, program, 1<<20)
		when := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(filepath.Join(string(dir), name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	if dir.load("a") == nil {
		t.Fatal("a program that was stored cannot be loaded")
	}
	dir.store("d", program, 3*132)
	for name, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if got := dir.load(name) != nil; got != want {
			t.Errorf("program %s is there: %v, want %v", name, got, want)
		}
	}
	if none := programs(""); none.load("a") != nil {
		t.Error("a program came from no folder")
	}
	programs(filepath.Join(string(dir), "a")).store("e", program, 1) // "a" is a file, not a folder: nothing is stored.
}

// private makes a folder for kept programs, to which only the user has access.
func private(t testing.TB) programs {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "programs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return programs(dir)
}
