package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// TestSealed checks that OpenSealed opens a file that has not changed since it was written, and refuses a changed file.
func TestSealed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sealed")
	if err := WriteSealed(path, text("what is kept")); err != nil {
		t.Fatal(err)
	}
	read := func() (string, error) {
		s, err := OpenSealed(path, "a sealed file")
		if err != nil {
			return "", err
		}
		defer s.Close()
		b, err := io.ReadAll(s)
		return string(b), err
	}
	if got, err := read(); got != "what is kept" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what any) {
		var damage *DamageError
		if got, err := read(); !errors.As(err, &damage) {
			t.Errorf("%v: %q, %v", what, got, err)
		}
	}
	filestest.FlipsOf(t, path, func(at int) { refused(at) })
	for _, content := range [][]byte{nil, whole[:5], whole[:len(whole)-1], append(whole, 0)} {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		refused(len(content))
	}
}
