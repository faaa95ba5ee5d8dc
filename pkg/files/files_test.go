package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func TestWriteIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ path, text string }{{path, "one"}, {path, "two"}, {link, "three"}} {
		if err := Write(step.path, text(step.text)); err != nil {
			t.Fatal(err)
		}
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error { io.WriteString(w, "half"); return broken })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "three" {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/dev/null", dir, filepath.Join(dir, "no", "such"), filepath.Join(file, "below")} {
		if err := Write(path, text("x")); err == nil || strings.Contains(err.Error(), ".part") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := Writable(filepath.Join(file, "below")); err == nil {
		t.Error("a folder below a file is writable")
	}
	if err := Writable(filepath.Join(dir, "new", "folder")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Error("/dev/null is no device any more")
	}
}
