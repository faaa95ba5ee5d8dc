//go:build unix

package datasets

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipesAreRefused puts a named pipe in the place of each file that Load reads. No process writes to the pipe, so
// that reading from the pipe would never end. Load must return an error instead.
func TestPipesAreRefused(t *testing.T) {
	pipe := func(dir, name string) string {
		path := filepath.Join(dir, name)
		os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip("no named pipes here: ", err)
		}
		return path
	}
	_, err := Load(t.Context(), pipe(t.TempDir(), "own.npz"), Options{})
	mustFail(t, "npz", err, "is not a regular file")
	for _, name := range []string{"nodes.csv", "edges.csv"} {
		dir := folder(t, "id,label\na,0\nb,1\n", "a,b\n")
		pipe(dir, name)
		_, err := Load(t.Context(), dir, Options{})
		mustFail(t, name, err, "is not a regular file")
	}
	data, mirror := t.TempDir(), t.TempDir()
	pipe(mirror, "minesweeper.npz")
	_, err = Load(t.Context(), "minesweeper", Options{Dir: data, Mirror: mirror})
	mustFail(t, "mirror", err, "is not a regular file")
	pipe(data, "minesweeper.npz")
	_, err = Load(t.Context(), "minesweeper", Options{Dir: data, Offline: true})
	mustFail(t, "public", err, "is not a regular file")
}
