//go:build unix

package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOpenNeverWaits calls Read for three paths that are not regular files: a pipe to which nobody writes, an endless
// device, and a folder. Read must return an error without waiting.
func TestOpenNeverWaits(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	for _, path := range []string{pipe, "/dev/zero", t.TempDir()} {
		done := make(chan error, 1)
		go func() {
			_, err := Read(path, "a file", 10)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "is not a regular file; give a file") {
				t.Errorf("%s: %v", path, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: still waiting", path)
		}
	}
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path, "a file", 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := Read(path, "a file", 4); err == nil || !strings.Contains(err.Error(), "the limit of 4") {
		t.Errorf("got %v", err)
	}
	var open *PrivacyError
	if _, err := ReadPrivate(path, "a file", 5); !errors.As(err, &open) || !strings.Contains(err.Error(), "mode 0644") {
		t.Errorf("got %v", err)
	}
	if err := WritePrivate(path, text("secret")); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadPrivate(path, "a file", 10); err != nil || string(b) != "secret" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestPieces(t *testing.T) {
	p := NewPieces(strings.NewReader(strings.Repeat("x", 3<<10)), 1<<10)
	for range 3 {
		if n, err := io.ReadFull(p, make([]byte, 1<<10)); n != 1<<10 || err != nil {
			t.Fatal(n, err)
		}
		p.Next()
	}
	if _, err := p.Read(make([]byte, 1)); err != io.EOF {
		t.Error(err)
	}
	p = NewPieces(strings.NewReader(strings.Repeat("x", 3<<10)), 1<<10)
	if _, err := io.ReadAll(p); err == nil || !strings.Contains(err.Error(), "longer than 1 KiB") {
		t.Error(err)
	}
}
