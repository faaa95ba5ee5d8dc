package echarts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPathFromVariable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.js")
	t.Setenv(Variable, file)
	if _, err := Path(); err == nil || !strings.Contains(err.Error(), Variable) ||
		!strings.Contains(err.Error(), "make setup") {
		t.Errorf("a missing file: %v, want an error that names %s and the remedy", err, Variable)
	}
	if err := os.WriteFile(file, []byte("anything"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := Path(); got != file || err != nil {
		t.Errorf("Path() = %q, %v, want %q", got, err, file)
	}
	if _, err := Source(); err == nil || !strings.Contains(err.Error(), Version) {
		t.Errorf("another file's content: %v, want an error that names version %s", err, Version)
	}
}

func TestPathFromFolders(t *testing.T) {
	t.Setenv(Variable, "")
	top := t.TempDir()
	deep := filepath.Join(top, "notebooks", "mine")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(deep)
	if p, err := Path(); err == nil {
		t.Skipf("an installed library at %s is found from everywhere", p)
	} else if !strings.Contains(err.Error(), "make setup") {
		t.Errorf("the error names no remedy: %v", err)
	}
	want := filepath.Join(top, filepath.FromSlash(File))
	if err := os.MkdirAll(filepath.Dir(want), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(want, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Path()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := resolved(t, got), resolved(t, want); a != b {
		t.Errorf("Path() = %q, want %q", a, b)
	}
}

// resolved returns a path to the same file without symbolic links. On some systems, the path of the folder for
// temporary files contains symbolic links. Then two different paths may lead to the same file, and only the resolved
// paths can be compared.
func resolved(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIntegrity(t *testing.T) {
	// The expected hash after "sha256-" was computed from the file in the npm package, by the command
	// `openssl dgst -sha256 -binary echarts.min.js | openssl base64 -A`.
	if got, want := Integrity(), "sha256-v0oiNSTkC3fDBL7GfhIiz1UfFIgM9Cxp3ARlWOEcB7E="; got != want {
		t.Errorf("Integrity() = %q, want %q", got, want)
	}
}

func TestCheckPackageRefusesAnother(t *testing.T) {
	err := CheckPackage([]byte("another"))
	if err == nil || !strings.Contains(err.Error(), Package) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one sentence with the integrity that is wanted", err)
	}
}
