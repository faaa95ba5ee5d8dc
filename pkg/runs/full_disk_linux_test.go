package runs

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// TestFaultFullDisk: if the disk is full, so that the store of records cannot grow, a process ends with an error that
// says so. Once there is room, the next process makes the missing runs.
func TestFaultFullDisk(t *testing.T) {
	want, _ := unbroken(t)
	disk, resize := filestest.Disk(t, 36<<10)
	path := filepath.Join(disk, "runs.sqlite")
	c, out := process(t, path)
	if err := c.Wait(); err == nil || !strings.Contains(out.String(), "the disk is full") {
		t.Fatalf("%v: %s", err, out)
	}
	resize(16 << 20)
	c, out = process(t, path)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	equal(t, outcomes(t, path), want)
}
