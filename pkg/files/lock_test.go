package files

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestMain runs the tests, unless the environment variable REVGNN_TEST_CLAIM is set to a path. In this case the process
// tries to lock the file at this path, prints whether it has got the lock, and waits to be killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("REVGNN_TEST_CLAIM"); path != "" {
		l, err := TryLock(path)
		fmt.Println(l != nil, err)
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

// claimant starts another process that locks the file at path. It returns once the other process has the lock.
func claimant(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), "REVGNN_TEST_CLAIM="+path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "true <nil>\n" {
		t.Fatalf("the other process says %q", line)
	}
	return c
}

// TestLockEndsWithItsProcess: a lock ends when it is released or when its process ends. Until then nobody else gets the
// lock.
func TestLockEndsWithItsProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.lock")
	other := claimant(t, path)
	if l, err := TryLock(path); l != nil || err != nil {
		t.Fatalf("claimed twice: %v, %v", l, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if l, err := AwaitLock(ctx, path); l != nil || err != context.DeadlineExceeded {
		t.Errorf("got %v, %v", l, err)
	}
	other.Process.Kill()
	l, err := AwaitLock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file of the claim is still there: %v", err)
	}
	(*Lock)(nil).Release()
	if _, err := TryLock(filepath.Join(path, "no", "folder")); err == nil {
		t.Error("claimed a name in no folder")
	}
}

// TestLockIsExclusive: if many goroutines lock and release the same name at the same time, only one has the lock at any
// time.
func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.lock")
	var inside atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				l, err := TryLock(path)
				if err != nil {
					t.Error(err)
				}
				if l == nil {
					continue
				}
				if inside.Add(1) != 1 {
					t.Error("two have the claim")
				}
				inside.Add(-1)
				l.Release()
			}
		})
	}
	all.Wait()
}

// TestPartsThatWereLeft: if a process is killed while it writes a file, it leaves a temporary file. Write must remove
// this temporary file when it writes the same file again. It must not remove a temporary file that another process has
// locked, nor files that only have a similar name.
func TestPartsThatWereLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	other, stays := filepath.Join(dir, ".b.json.00000001.part"), filepath.Join(dir, ".a.json.old.part")
	for _, left := range []string{filepath.Join(dir, ".a.json.0123abcd.part"), other, stays} {
		if err := os.WriteFile(left, []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	writing := filepath.Join(dir, ".a.json.11111111.part")
	claimant(t, writing)
	if err := Write(path, text("whole")); err != nil {
		t.Fatal(err)
	}
	if err := Writable(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := fmt.Sprint(names); got != "[.a.json.11111111.part .a.json.old.part .b.json.00000001.part a.json]" {
		t.Errorf("the folder holds %s", got)
	}
}
