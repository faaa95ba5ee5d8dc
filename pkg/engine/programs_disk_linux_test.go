package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// TestFaultFullDisk checks what happens on a full disk. A program for which there is no room must not be kept, and the
// programs that are kept already must not change. Each folder of kept programs has a secret key in a file
// ([programs.key]). A key must not be used if there was no room for the whole key.
func TestFaultFullDisk(t *testing.T) {
	disk, resize := filestest.Disk(t, 64<<10)
	dir := programs(filepath.Join(disk, "programs"))
	small, large := bytes.Repeat([]byte("a"), 10<<10), bytes.Repeat([]byte("b"), 100<<10)
	dir.store("small", small, maxPrograms)
	dir.store("large", large, maxPrograms)
	if !bytes.Equal(dir.load("small"), small) || dir.load("large") != nil {
		t.Error("what is kept on a full disk is not what was stored")
	}
	if left, _ := filepath.Glob(filepath.Join(string(dir), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	full := programs(filepath.Join(disk, "other"))
	if err := os.Mkdir(string(full), 0o700); err != nil {
		t.Fatal(err)
	}
	filler, err := os.Create(filepath.Join(disk, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = filler.Write(make([]byte, 4<<10))
	}
	filler.Close()
	full.store("small", small, maxPrograms)
	resize(1 << 20)
	full.store("small", small, maxPrograms)
	dir.store("large", large, maxPrograms)
	if !bytes.Equal(full.load("small"), small) || !bytes.Equal(dir.load("large"), large) {
		t.Error("with room again, nothing is kept")
	}
}
