package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// binary is the path of the program revgnn, which TestMain builds and the tests run.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "revgnn-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "revgnn")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s\n", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// outcome is what a run of the program leaves: the texts on stdout and stderr, and the exit status.
type outcome struct {
	stdout, stderr string
	code           int
}

// command prepares a run of the program. The run does not get the environment variables that begin with REVGNN_, since
// these would change its settings. It may take at most three minutes.
func command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	return commandFor(t, 3*time.Minute, args...)
}

func commandFor(t testing.TB, most time.Duration, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), most)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, binary, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "REVGNN_") {
			c.Env = append(c.Env, v)
		}
	}
	return c
}

func finish(t testing.TB, c *exec.Cmd) outcome {
	t.Helper()
	var out, err bytes.Buffer
	c.Stdout, c.Stderr = &out, &err
	failed := c.Run()
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) {
		t.Fatal(failed)
	}
	return outcome{out.String(), err.String(), c.ProcessState.ExitCode()}
}

func revgnn(t testing.TB, args ...string) outcome {
	t.Helper()
	return finish(t, command(t, args...))
}

// document decodes stdout, which must be exactly one JSON document, into the variable that the argument `into` points
// to.
func (o outcome) document(t testing.TB, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(o.stdout))
	if err := d.Decode(into); err != nil {
		t.Fatalf("stdout is no JSON: %v\n%s\n%s", err, o.stdout, o.stderr)
	}
	if d.More() {
		t.Fatalf("stdout has more than one JSON document: %s", o.stdout)
	}
}

// succeeds runs the program and expects exit status 0.
func succeeds(t testing.TB, args ...string) outcome {
	t.Helper()
	o := revgnn(t, args...)
	if o.code != 0 {
		t.Fatalf("revgnn %v: exit status %d\n%s%s", args, o.code, o.stdout, o.stderr)
	}
	return o
}

// fails runs the program, which must end with the given exit status. The last line of stderr must be an error message
// that contains the text `want`. There must be no other error message, and no panic.
func fails(t testing.TB, code int, want string, args ...string) outcome {
	t.Helper()
	o := revgnn(t, args...)
	lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
	last := lines[len(lines)-1]
	if o.code != code || !strings.HasPrefix(last, "revgnn: ") || !strings.Contains(last, want) {
		t.Errorf("revgnn %.200q: exit status %d with %q, want %d and %q", args, o.code, last, code, want)
	}
	for _, l := range lines[:len(lines)-1] {
		if strings.HasPrefix(l, "revgnn: ") || strings.Contains(l, "Usage:") {
			t.Errorf("revgnn %.200q: more than one sentence: %s", args, o.stderr)
		}
	}
	if all := o.stdout + o.stderr; strings.Contains(all, "goroutine") || strings.Contains(all, "panic") ||
		strings.Contains(all, "internal error") {
		t.Errorf("revgnn %.200q: a panic: %s", args, all)
	}
	return o
}

// shared returns the path of a folder with test data, such as datasets and results of the authors' code. These folders
// are not part of the repository. They are in the folder that the environment variable REVGNN_SHARED names, or else in
// the folder "shared" beside the repository. If a folder is missing, the test is skipped.
func shared(t testing.TB, what string) string {
	t.Helper()
	root := os.Getenv("REVGNN_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(root, what)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no folder %s: the comparison with real files in it is skipped; set REVGNN_SHARED to run it", dir)
	}
	return dir
}

// realData returns the path of a folder with the public datasets.
func realData(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("REVGNN_DATA"); dir != "" {
		return dir
	}
	return shared(t, "data")
}

// empty checks that a folder has only the allowed files. So it finds half-written files that a command has left, hidden
// files included.
func empty(t testing.TB, dir string, allowed ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		found := false
		for _, a := range allowed {
			found = found || e.Name() == a
		}
		if !found {
			t.Errorf("%s was left in %s", e.Name(), dir)
		}
	}
}
