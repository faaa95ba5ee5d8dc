package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// endless returns a command that trains for so many epochs that it does not end during the test.
func endless(t *testing.T, dir string, more ...string) *exec.Cmd {
	t.Helper()
	return command(t, with(with(quick, "train", "--dataset", tinyGraph, "--json", "--epochs", "1000000",
		"--patience", "0", "--splits", "0-9", "--out", dir), more...)...)
}

// interrupted starts a command that trains, waits until the training has begun, and sends the signals to the command.
// It returns what the command wrote, and its exit status.
func interrupted(t *testing.T, c *exec.Cmd, signals ...os.Signal) outcome {
	t.Helper()
	var out bytes.Buffer
	c.Stdout = &out
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	text, _ := lines.ReadString('\n') // it is about to train
	time.Sleep(1500 * time.Millisecond)
	for _, s := range signals {
		c.Process.Signal(s)
	}
	rest, _ := io.ReadAll(lines)
	c.Wait()
	return outcome{out.String(), text + string(rest), c.ProcessState.ExitCode()}
}

// TestInterrupt ends a long training by a signal, and then resumes the training. The interrupted training must write a
// checkpoint, and its results so far. The resumed training must continue after the last epoch.
func TestInterrupt(t *testing.T) {
	for signal, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129,
		syscall.SIGUSR1: 128 + int(syscall.SIGUSR1)} {
		if ossignal.Ignored(signal) {
			t.Logf("%v is not tested: it is ignored here, as in what nohup or a script's & starts", signal)
			continue
		}
		dir := t.TempDir()
		o := interrupted(t, endless(t, dir), signal, signal) // two, as timeout(1) sends them
		var s runs.Summary
		o.document(t, &s)
		if o.code != status || len(s.Splits) != 1 || s.Splits[0].Status != train.Interrupted || s.Splits[0].Epochs < 1 ||
			s.Mean == s.Mean {
			t.Errorf("exit status %d, %+v, %s", o.code, s, o.stderr)
		}
		if strings.Contains(o.stderr, "goroutine") || !strings.Contains(o.stderr, "with --resume goes on from there") {
			t.Errorf("told %s", o.stderr)
		}
		empty(t, dir, "split0.checkpoint")
		again := interrupted(t, endless(t, dir, "--resume"), signal)
		after := fmt.Sprintf("going on after epoch %d,", s.Splits[0].Epochs)
		before := s.Splits[0].Epochs
		s = runs.Summary{}
		again.document(t, &s)
		if again.code != status || !strings.Contains(again.stderr, after) || s.Splits[0].Epochs <= before {
			t.Errorf("exit status %d, %+v, %s", again.code, s, again.stderr)
		}
	}
}

// TestPipelineIsInterrupted interrupts a training whose output another program reads through a pipe. Ctrl-C ends this
// other program, too, so that the training cannot write to the pipe any more. The training must still save its state.
func TestPipelineIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	c := endless(t, dir)
	stdout, out := pipe(t)
	stderr, err := pipe(t)
	c.Stdout, c.Stderr = out, err
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewReader(stderr).ReadString('\n')
	time.Sleep(time.Second)
	for _, f := range []io.Closer{stdout, out, stderr, err} {
		f.Close()
	}
	c.Process.Signal(os.Interrupt)
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit status %d: %v", code, c.ProcessState)
	}
	if _, err := os.Stat(filepath.Join(dir, "split0.checkpoint")); err != nil {
		t.Error(err)
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// TestIgnoredHangup starts a training in the way of the program nohup: the training ignores SIGHUP, the signal that a
// closed terminal sends. SIGHUP must not end the training, but SIGTERM must.
func TestIgnoredHangup(t *testing.T) {
	c := command(t)
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh", binary, "train", "--dataset",
		tinyGraph, "--engine", "go", "--hidden", "8", "--epochs", "1000000", "--patience", "0"}
	if o := interrupted(t, c, syscall.SIGHUP, syscall.SIGTERM); o.code != 143 {
		t.Errorf("exit status %d: %s", o.code, o.stderr)
	}
}

// TestSecondSignalEndsAtOnce sends two signals to a training with long training steps. The second signal must end the
// training at once, even in the middle of a step.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	c := command(t, "train", "--dataset", "minesweeper-generated:rows=100,cols=100", "--engine", "go", "--hidden", "128",
		"--forward", "400", "--reverse", "0", "--model", "gcn")
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewReader(stderr).ReadString('\n')
	time.Sleep(time.Second)
	c.Process.Signal(syscall.SIGTERM)
	time.Sleep(1200 * time.Millisecond)
	start := time.Now()
	c.Process.Signal(syscall.SIGTERM)
	c.Wait()
	if took := time.Since(start); c.ProcessState.ExitCode() != 143 || took > 5*time.Second {
		t.Errorf("%v after %v", c.ProcessState, took)
	}
}

// TestKilledTraining kills a training at random moments, and resumes it each time, until a resumed training ends. Its
// files and run records must be the same as those of a training that was never killed. The environment variable
// REVGNN_TEST_FAULTS sets the number of kills.
func TestKilledTraining(t *testing.T) {
	kills := 3
	if n, err := strconv.Atoi(os.Getenv("REVGNN_TEST_FAULTS")); err == nil {
		kills = n
	}
	args := func(dir string) []string {
		return with(quick, "train", "--dataset", tinyGraph, "--json", "--epochs", "60", "--patience", "0", "--dropout",
			"0.2", "--splits", "0-1", "--checkpoint-every", "1ms", "--out", dir, "--runs", filepath.Join(dir, "runs.sqlite"))
	}
	whole, start := t.TempDir(), time.Now()
	succeeds(t, args(whole)...)
	takes, want := time.Since(start), told(t, whole)
	goneOn := 0
	for kills > 0 {
		dir := t.TempDir()
		for ended := false; !ended; {
			c := command(t, with(args(dir), "--resume")...)
			var stderr bytes.Buffer
			c.Stderr = &stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if kills > 0 {
				time.AfterFunc(time.Duration(rand.Int64N(int64(takes))), func() { c.Process.Kill() })
			}
			c.Wait()
			goneOn += strings.Count(stderr.String(), "going on after epoch")
			if code := c.ProcessState.ExitCode(); code == 0 {
				ended = true
			} else if kills--; code != -1 {
				t.Fatalf("exit status %d: %s", code, stderr.String())
			}
		}
		if got := told(t, dir); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		for k := range 2 {
			name := fmt.Sprintf("split%d.safetensors", k)
			if !bytes.Equal(read(t, filepath.Join(dir, name)), read(t, filepath.Join(whole, name))) {
				t.Errorf("other weights in %s", name)
			}
		}
		empty(t, dir, "split0.checkpoint", "split0.json", "split0.safetensors", "split1.checkpoint", "split1.json",
			"split1.safetensors", "result.json", "runs.sqlite")
	}
	t.Logf("%d trainings were gone on with", goneOn)
}

// told returns, as one text, the results and the run records of a training on two splits, whose files are in the folder
// dir. It leaves out times and memory, which differ between equal trainings.
func told(t *testing.T, dir string) string {
	t.Helper()
	s, err := runs.OpenExisting(filepath.Join(dir, "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	records, err := s.Find(runs.Query{Kind: runs.Train})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{fmt.Sprintf("%d records", len(records))}
	for k := range 2 {
		for _, from := range [][]byte{records[k].Outcome, read(t, filepath.Join(dir, fmt.Sprintf("split%d.json", k)))} {
			var r runs.SplitRecord
			if err := json.Unmarshal(from, &r); err != nil {
				t.Fatal(err)
			}
			r.Seconds, r.EpochSeconds, r.CompileSeconds, r.PeakRSS, r.PredictedBytes = 0, 0, 0, 0, 0
			for i := range r.History {
				r.History[i].Seconds = 0
			}
			out = append(out, fmt.Sprintf("%+v %+v", r.Result, r.History))
		}
	}
	return strings.Join(out, "\n")
}
