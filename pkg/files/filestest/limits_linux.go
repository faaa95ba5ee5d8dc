package filestest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Disk returns a folder on a disk of the given size in bytes, in main memory, and a function that changes this size.
func Disk(t testing.TB, bytes int) (dir string, resize func(bytes int)) {
	t.Helper()
	dir = t.TempDir()
	mount := func(bytes int, flags uintptr) error {
		return syscall.Mount("tmpfs", dir, "tmpfs", flags, fmt.Sprintf("size=%d", bytes))
	}
	if err := mount(bytes, 0); err != nil {
		t.Skip("no file system may be mounted here, and a full disk is not tested: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, func(bytes int) {
		if err := mount(bytes, syscall.MS_REMOUNT); err != nil {
			t.Fatal(err)
		}
	}
}

// Group makes a control group with the given bytes of memory and no swap space. The function within lets a command run
// in it.
func Group(t testing.TB, bytes int) (within func(*exec.Cmd) *exec.Cmd) {
	t.Helper()
	limit := fmt.Sprint(bytes)
	return limited(t, "memory", map[string]string{"memory.limit_in_bytes": limit},
		map[string]string{"memory.max": limit, "memory.swap.max": "0"})
}

// HalfACore is [Group] for a quota of half a processor core.
func HalfACore(t testing.TB) (within func(*exec.Cmd) *exec.Cmd) {
	t.Helper()
	return limited(t, "cpu", map[string]string{"cpu.cfs_quota_us": "50000"}, map[string]string{"cpu.max": "50000 100000"})
}

// limited makes a control group with limits of a controller: the files of version 1 or of version 2.
func limited(t testing.TB, controller string, first, second map[string]string) (within func(*exec.Cmd) *exec.Cmd) {
	t.Helper()
	dir, err := newGroup(controller, first, second)
	if err != nil {
		t.Skip("no control group with a limit can be made here, and that is not tested: ", err)
	}
	t.Cleanup(func() {
		for range 50 { // A group cannot be removed before all its processes have ended.
			if err = syscall.Rmdir(dir); err == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Error(err)
	})
	return func(c *exec.Cmd) *exec.Cmd {
		c.Args = append([]string{"sh", "-c", `echo $$ >"$0" && exec "$@"`, filepath.Join(dir, "cgroup.procs"), c.Path},
			c.Args[1:]...)
		c.Path = "/bin/sh"
		return c
	}
}

// newGroup makes a control group inside the first group of this process where it can, of version 1 or 2.
func newGroup(controller string, first, second map[string]string) (dir string, err error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	err = fmt.Errorf("no control groups for %s in %q", controller, own)
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		limits, root := second, "/sys/fs/cgroup"
		switch {
		case len(parts) < 3:
			continue
		case slices.Contains(strings.Split(parts[1], ","), controller):
			limits, root = first, "/sys/fs/cgroup/"+controller
		case parts[1] != "":
			continue
		}
		dir = filepath.Join(root, parts[2], fmt.Sprintf("revgnn-test-%d", time.Now().UnixNano()))
		if err = os.Mkdir(dir, 0o755); err != nil {
			continue
		}
		for name, limit := range limits {
			if err == nil {
				err = write(filepath.Join(dir, name), limit)
			}
		}
		if err == nil {
			return dir, nil
		}
		os.Remove(dir)
	}
	return "", err
}

// write writes a limit to a file that exists: one that the group cannot limit has none.
func write(path, limit string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(limit)
	return errors.Join(err, f.Close())
}
