//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// TestPipesAndDevices gives named pipes and the device /dev/zero to commands, in place of files. Reading them would
// never end. Each command must refuse them at once.
func TestPipesAndDevices(t *testing.T) {
	dir := t.TempDir()
	pipe := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip("no named pipes here: ", err)
		}
		return path
	}
	device := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.Symlink("/dev/zero", path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	predict := []string{"predict", "--dataset", tinyGraph, "--engine", "go", "--out", filepath.Join(dir, "o.npz"),
		"--weights"}
	pipe("folder/edges.csv")
	began := time.Now()
	for _, args := range [][]string{
		{"train", "--dataset", pipe("g.npz"), "--engine", "go"},
		{"datasets", "stats", device("z.npz")},
		{"datasets", "stats", filepath.Dir(pipe("folder/nodes.csv"))},
		{"runs", "import", pipe("r.jsonl"), "--runs", filepath.Join(dir, "new.sqlite")},
		{"runs", "import", device("r.csv"), "--runs", filepath.Join(dir, "new.sqlite")},
		{"runs", "list", "--runs", pipe("r.sqlite")},
		with(predict, pipe("w.npz")), with(predict, device("w.safetensors")),
	} {
		fails(t, 1, "is not a regular file", args...)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("took %s", took)
	}
}

// TestNamesDoNotSteerTheTerminal puts characters that control the terminal into names of arrays and into run records.
// Commands must not write these characters to the terminal.
func TestNamesDoNotSteerTheTerminal(t *testing.T) {
	evil := "\x1b]0;owned\a\u009b31m\u202e"
	steers := func(o outcome) {
		t.Helper()
		if strings.ContainsAny(o.stdout+o.stderr, "\x1b\a\u009b\u202e") {
			t.Errorf("it steers the terminal: %q, %q", o.stdout, o.stderr)
		}
	}
	one := filestest.NPY("<f4", false, "(1,)", []float32{1})
	steers(fails(t, 1, `no array "node_features"`, "datasets", "stats",
		writeFile(t, "g.npz", filestest.Archive(filestest.Named(evil, one)))))
	steers(fails(t, 1, "which gcn+rep with these settings has not", "predict", "--dataset", tinyGraph, "--engine", "go",
		"--model", "gcn+rep", "--out", filepath.Join(t.TempDir(), "o.npz"), "--weights",
		writeFile(t, "w.npz", filestest.Archive(filestest.Named("param."+evil, one)))))
	runs := filepath.Join(t.TempDir(), "runs.sqlite")
	record := `{"id":"00000000000000","key":"` + strings.Repeat("0a", 32) + `","kind":"train","dataset":"\u001b[2J` +
		`\u009b\u202e","model":"\u202e","config":{"a":"\u009b\u202e"},"split":0,` +
		`"status":"ok","started":"2026-01-02T15:04:05Z"}`
	succeeds(t, "runs", "import", writeFile(t, "r.jsonl", []byte(record)), "--runs", runs)
	for _, args := range [][]string{{"list"}, {"show", "0"}, {"list", "--json"}} {
		steers(succeeds(t, with([]string{"runs", "--runs", runs}, args...)...))
	}
	steers(fails(t, 1, "not a run record", "runs", "import", "--runs", runs,
		writeFile(t, "bad.jsonl", []byte(`{"`+"\u009b\u202e"+`":1}`))))
	steers(fails(t, 2, "unknown command", evil))
}

// TestHelpOnAFullDisk checks that commands fail if they cannot write their output, even if the output is only a help
// text.
func TestHelpOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full: a full disk is not tested here")
	}
	defer full.Close()
	for _, args := range [][]string{{"--help"}, {"help", "train"}, {"runs", "list", "--help"},
		{"doctor", "--engine", "go"}} {
		c := command(t, args...)
		var text bytes.Buffer
		c.Stdout, c.Stderr = full, &text
		c.Run()
		if c.ProcessState.ExitCode() != 1 || strings.Count(text.String(), "revgnn: ") != 1 {
			t.Errorf("%q: exit status %d: %s", args, c.ProcessState.ExitCode(), text.String())
		}
	}
}

// TestEmptyStore lists the run records of an empty file. The output must have no line except the headings of the table.
func TestEmptyStore(t *testing.T) {
	if o := succeeds(t, "runs", "list", "--runs", writeFile(t, "runs.sqlite", nil)); strings.Count(o.stdout, "\n") != 1 {
		t.Errorf("got %q", o.stdout)
	}
}

// TestLittleMemory limits the memory of a process by the shell command ulimit -v. The process then reads a graph, or
// trains a model, that needs more memory. It must end with an error message. The test also reads a graph that is larger
// than revgnn allows.
func TestLittleMemory(t *testing.T) {
	path := writeFile(t, "g.npz", filestest.Graph(
		filestest.Named("node_features", filestest.NPY("<f4", false, "(3, 21000000)", make([]byte, 252000000)))))
	for _, args := range [][]string{{"datasets", "stats", path},
		{"train", "--dataset", tinyGraph, "--engine", "go", "--hidden", "16384", "--epochs", "1", "--splits", "0"}} {
		c := command(t, args...)
		c.Args = append([]string{"sh", "-c", `ulimit -v 1900000 && exec "$0" "$@"`}, c.Args...)
		c.Path = "/bin/sh"
		o := finish(t, c)
		if o.code != 1 || !strings.Contains(o.stderr, "of memory, but") || strings.Contains(o.stderr, "goroutine") {
			t.Errorf("%s: exit status %d: %.500s", args[0], o.code, o.stderr)
		}
	}
	fails(t, 1, "more than the limit of", "datasets", "stats", writeFile(t, "bomb.npz", filestest.Graph(
		filestest.Named("node_features", filestest.NPY("|u1", false, "(3, 30000000)", make([]byte, 90000000))))))
}
