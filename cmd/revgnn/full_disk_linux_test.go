package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// TestFaultFullDisk trains on small disks of several sizes, so that the disk is full at different points of the
// training. A training whose disk is full must end with an error message. When the disk is made larger, the training
// must resume, and come to the same results as a training with enough room.
func TestFaultFullDisk(t *testing.T) {
	whole := t.TempDir()
	succeeds(t, faultless(whole)...)
	sizes := []int{4 << 10, 24 << 10, 44 << 10}
	if os.Getenv("REVGNN_TEST_FAULTS") != "" {
		for size := 8 << 10; size < 72<<10; size += 8 << 10 {
			sizes = append(sizes, size)
		}
	}
	failed := 0
	for _, size := range sizes {
		disk, resize := filestest.Disk(t, size)
		dir := filepath.Join(disk, "run")
		o := revgnn(t, faultless(dir)...)
		if o.code == 1 {
			failed++
			oneSentence(t, o, "")
		} else if o.code != 0 {
			t.Errorf("%d bytes: exit status %d: %s", size, o.code, o.stderr)
		}
		resize(16 << 20)
		succeeds(t, with(faultless(dir), "--resume")...)
		sameAs(t, dir, whole)
		empty(t, dir, "split0.checkpoint", "split0.json", "split0.safetensors", "split1.checkpoint", "split1.json",
			"split1.safetensors", "result.json", "runs.sqlite")
	}
	if failed < 2 { // the least depends on the size of the system's pages
		t.Errorf("%d of %d disks were too small", failed, len(sizes))
	}
}

// TestFaultFullDiskForRecords imports and exports run records on a disk that is too small for them. Both commands must
// fail. The earlier records and the earlier export must not change, and no other files may be left.
func TestFaultFullDiskForRecords(t *testing.T) {
	from := filepath.Join(t.TempDir(), "runs.sqlite")
	succeeds(t, "runs", "import", "../../data/records/quick.jsonl", "--runs", from)
	disk, _ := filestest.Disk(t, 200<<10)
	store, export := filepath.Join(disk, "runs.sqlite"), filepath.Join(disk, "r.jsonl")
	few := with([]string{"runs", "export", export, "--runs", from}, "--dataset", "cora", "--model", "gcn")
	succeeds(t, few...)
	succeeds(t, "runs", "import", export, "--runs", store)
	before, listed := read(t, export), succeeds(t, "runs", "list", "--runs", store, "--json").stdout
	fails(t, 1, "the disk is full", "runs", "import", "../../data/records/quick.jsonl", "--runs", store)
	fails(t, 1, "no space left on device", "runs", "export", export, "--runs", from)
	if !bytes.Equal(read(t, export), before) {
		t.Error("the earlier export was changed")
	}
	if got := succeeds(t, "runs", "list", "--runs", store, "--json").stdout; got != listed {
		t.Errorf("the records are %s", got)
	}
	empty(t, disk, "runs.sqlite", "r.jsonl")
}
