package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/files/filestest"
	"github.com/revgnn/revgnn/pkg/runs"
)

// faultless returns the arguments of a training on two splits, which keeps its results, checkpoints and run records in
// the folder dir. Tests disturb such a training, for example by killing it, and compare it with one that nothing has
// disturbed.
func faultless(dir string) []string {
	return with(quick, "train", "--dataset", tinyGraph, "--json", "--epochs", "30", "--patience", "0", "--dropout",
		"0.2", "--splits", "0-1", "--checkpoint-every", "1ms", "--out", dir, "--runs", filepath.Join(dir, "runs.sqlite"))
}

// sameAs checks that the trainings in two folders have the same results, run records and weights. Times and memory may
// differ.
func sameAs(t *testing.T, dir, want string) {
	t.Helper()
	if got, want := told(t, dir), told(t, want); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for k := range 2 {
		name := fmt.Sprintf("split%d.safetensors", k)
		if !bytes.Equal(read(t, filepath.Join(dir, name)), read(t, filepath.Join(want, name))) {
			t.Errorf("other weights in %s", name)
		}
	}
}

// oneSentence checks that the last line of a command's stderr is an error message of revgnn that contains the text
// `want`. It also checks that there is no stack trace.
func oneSentence(t *testing.T, o outcome, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "revgnn: ") || !strings.Contains(last, want) ||
		strings.Contains(o.stderr, "goroutine") || strings.Contains(o.stderr, "internal error") {
		t.Errorf("exit status %d: %s; want %q", o.code, o.stderr, want)
	}
}

// TestFaultTwoTrainings runs two trainings at the same time, which keep their run records in the same file. The
// training on each of the eight splits must be recorded exactly once.
func TestFaultTwoTrainings(t *testing.T) {
	store := filepath.Join(t.TempDir(), "runs.sqlite")
	var both []*exec.Cmd
	for _, splits := range []string{"0-3", "4-7"} {
		c := command(t, with(quick, "train", "--dataset", tinyGraph, "--quiet", "--epochs", "5", "--splits", splits,
			"--runs", store)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		both = append(both, c)
	}
	for _, c := range both {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	s, err := runs.OpenExisting(store)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found, err := s.Find(runs.Query{Kind: runs.Train, Status: []string{runs.OK}})
	splits := map[int]bool{}
	for _, r := range found {
		splits[r.Split] = true
	}
	if err != nil || len(found) != 8 || len(splits) != 8 {
		t.Errorf("%d records of %d splits, %v", len(found), len(splits), err)
	}
}

// TestFaultKilledDownload kills a process that has downloaded half of a file. The next download must fetch only the
// other half.
func TestFaultKilledDownload(t *testing.T) {
	file := "minesweeper.npz"
	whole := read(t, filepath.Join(realData(t), file))
	half, ranges := make(chan bool), []string{}
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ranges = append(ranges, r.Header.Get("Range")); len(ranges) > 1 {
			http.ServeContent(w, r, file, time.Time{}, bytes.NewReader(whole))
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
		w.Write(whole[:len(whole)/2])
		w.(http.Flusher).Flush()
		half <- true
		<-r.Context().Done()
	}))
	defer mirror.Close()
	dir := t.TempDir()
	get := []string{"datasets", "get", "minesweeper", "--data", dir, "--mirror", mirror.URL}
	c := command(t, get...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-half
	part := filepath.Join(dir, file+".part")
	for range 100 { // until what was sent is there
		if info, err := os.Stat(part); err == nil && info.Size() == int64(len(whole)/2) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.Process.Kill()
	c.Wait()
	if _, err := os.Stat(filepath.Join(dir, file)); !os.IsNotExist(err) {
		t.Errorf("half a file is in place: %v", err)
	}
	succeeds(t, get...)
	if want := fmt.Sprintf("bytes=%d-", len(whole)/2); len(ranges) != 2 || ranges[1] != want {
		t.Errorf("asked for %q, want %q", ranges, want)
	}
	if !bytes.Equal(read(t, filepath.Join(dir, file)), whole) {
		t.Error("another file was put together")
	}
}

// TestFaultDamagedPlugin checks that a damaged XLA plugin is not loaded, and that the error message has the path of the
// plugin. The first half of the program revgnn serves as a damaged plugin.
func TestFaultDamagedPlugin(t *testing.T) {
	dir, b := t.TempDir(), read(t, binary)
	path := filepath.Join(dir, "pjrt_c_api_cpu_plugin.so")
	if err := os.WriteFile(path, b[:len(b)/2], 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "xla:cpu"} {
		c := command(t, "train", "--dataset", tinyGraph, "--engine", name)
		c.Env = append(c.Env, "PJRT_PLUGIN_LIBRARY_PATH="+dir)
		o := finish(t, c)
		if oneSentence(t, o, "the plugin "+path+" is damaged"); o.code != 1 {
			t.Errorf("exit status %d", o.code)
		}
	}
}

// TestFaultLittleGroup trains in control groups with little memory (Linux limits the memory of processes by control
// groups). The first training computes in advance that it needs too much memory, and ends with an error message. A
// later training does not foresee this, and the kernel kills it. The results that were saved before must remain, so
// that the training can be resumed.
func TestFaultLittleGroup(t *testing.T) {
	o := finish(t, filestest.Group(t, 300<<20)(command(t, "train", "--dataset", tinyGraph, "--engine", "go",
		"--hidden", "16384", "--epochs", "1", "--splits", "0")))
	if oneSentence(t, o, "of memory, but"); o.code != 1 {
		t.Errorf("exit status %d", o.code)
	}
	whole, dir := t.TempDir(), t.TempDir()
	succeeds(t, faultless(whole)...)
	first := faultless(dir)
	first[slices.Index(first, "0-1")] = "0"
	succeeds(t, first...)
	killed := finish(t, filestest.Group(t, 16<<20)(command(t, with(faultless(dir), "--resume")...)))
	if killed.code != -1 {
		t.Errorf("exit status %d: %s", killed.code, killed.stderr)
	}
	succeeds(t, with(faultless(dir), "--resume")...)
	sameAs(t, dir, whole)
}

// TestFaultPluginGone deletes the file of the XLA plugin while a training uses the plugin. This training must end as
// usual. The next training must fail, with a message that says that there is no plugin.
func TestFaultPluginGone(t *testing.T) {
	enginetest.Open(t, engine.CPU) // skips where there is no plugin
	dir := t.TempDir()
	path := filepath.Join(dir, "pjrt_c_api_cpu_plugin.so")
	if err := os.Link(engine.Plugins()["cpu"], path); err != nil {
		t.Skip("the plugin can be linked to no folder for tests, and what happens without it is not tested: ", err)
	}
	args := []string{"train", "--dataset", tinyGraph, "--engine", "xla:cpu", "--epochs", "40", "--splits", "0"}
	c := command(t, args...)
	c.Env = append(c.Env, "PJRT_PLUGIN_LIBRARY_PATH="+dir, "REVGNN_PROGRAMS=off")
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	text, _ := lines.ReadString('\n') // it is about to train: the plugin is loaded, and nothing is compiled yet
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(lines)
	if err := c.Wait(); err != nil || !strings.Contains(string(rest), "ok after 40 epochs") {
		t.Errorf("%v: %s%s", err, text, rest)
	}
	c = command(t, args...)
	c.Env = append(c.Env, "PJRT_PLUGIN_LIBRARY_PATH="+dir)
	o := finish(t, c)
	if oneSentence(t, o, "has no plugin in "+dir); o.code != 1 {
		t.Errorf("exit status %d", o.code)
	}
}
