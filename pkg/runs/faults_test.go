package runs

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/train"
)

// longer is a profile whose trainings take long enough to be killed while they run.
const longer = `{"name": "tiny", "datasets": ["minesweeper"], "splits": [0, 1], "tried": 1,
	"candidates": [{"settings": {"hidden": 4, "epochs": 60, "patience": 40, "max_iterations": 4, "dropout": 0.2,
		"lr": [0.01, 0.02]}, "depths": [{"forward": 2, "reverse": 2}]}]}`

// TestOtherProcess does nothing when it is run as an ordinary test. Other tests call the function process, which starts
// a new process that runs only TestOtherProcess. In this new process, TestOtherProcess makes the missing runs of a
// store, and prints their keys.
func TestOtherProcess(t *testing.T) {
	path := os.Getenv("REVGNN_TEST_STORE")
	if path == "" {
		t.Skip("other tests start this one in a process of its own")
	}
	r := runner(t, path)
	r.Profile, r.CheckpointEvery = profile(t, longer), time.Nanosecond
	r.Ended = func(record Record) { fmt.Printf("made %s\n", record.Key) }
	r.Notice = func(text string) { fmt.Println(text) }
	if err := r.Run(t.Context(), searches); err != nil {
		t.Fatal(err)
	}
}

func process(t *testing.T, store string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestOtherProcess$")
	c.Env = append(os.Environ(), "REVGNN_TEST_STORE="+store)
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, &out
}

// outcomes returns the outcomes of all runs in a store, without times and memory. The test fails if a run is recorded
// twice, or if the folder of checkpoints beside the store has not been removed.
func outcomes(t *testing.T, path string) map[string]string {
	t.Helper()
	s, err := OpenExisting(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := s.Find(Query{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, r := range all {
		var o Trained
		if err := json.Unmarshal(r.Outcome, &o); err != nil {
			t.Fatal(err)
		}
		o.Seconds, o.EpochSeconds, o.CompileSeconds, o.PeakRSS, o.PredictedBytes = 0, 0, 0, 0, 0
		if out[r.Key] != "" {
			t.Errorf("run %.8s is there twice", r.Key)
		}
		out[r.Key] = fmt.Sprintf("%s %+v", r.Status, o)
	}
	if _, err := os.Stat(ClaimsOf(s).dir); !os.IsNotExist(err) {
		t.Errorf("the folder of checkpoints is still there: %v", err)
	}
	return out
}

// unbroken starts a process that makes all runs of a new store, and lets it end undisturbed. It returns the outcomes of
// the runs, and the time that the process took.
func unbroken(t *testing.T) (map[string]string, time.Duration) {
	t.Helper()
	path, start := filepath.Join(t.TempDir(), "runs.sqlite"), time.Now()
	c, out := process(t, path)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return outcomes(t, path), time.Since(start)
}

func equal(t *testing.T, got, want map[string]string) {
	t.Helper()
	for key, w := range want {
		if got[key] != w {
			t.Errorf("run %.8s: got  %s\nwant %s", key, got[key], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d runs, not %d", len(got), len(want))
	}
}

// TestTwoProcesses: if two processes share a store, each run is made by only one of them, and both end when all runs
// are made.
func TestTwoProcesses(t *testing.T) {
	want, _ := unbroken(t)
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	one, first := process(t, path)
	two, second := process(t, path)
	if err, other := one.Wait(), two.Wait(); err != nil || other != nil {
		t.Fatalf("%v: %s\n%v: %s", err, first, other, second)
	}
	made := strings.Count(first.String()+second.String(), "made ")
	if made != len(want) {
		t.Errorf("%d runs were made, of %d", made, len(want))
	}
	equal(t, outcomes(t, path), want)
}

// TestKilled starts processes with the same store, one after the other, and kills each at a random moment, until a
// process has made all runs. The outcomes must then be those of a process that is never killed. The test repeats this
// with new stores, until it has killed 3 processes. If the environment variable REVGNN_TEST_FAULTS is set to a number,
// the test kills half as many processes as this number says.
func TestKilled(t *testing.T) {
	kills := 3
	if n, err := strconv.Atoi(os.Getenv("REVGNN_TEST_FAULTS")); err == nil {
		kills = n / 2
	}
	want, takes := unbroken(t)
	goneOn := 0
	for kills > 0 {
		path := filepath.Join(t.TempDir(), "runs.sqlite")
		for ended := false; !ended; {
			c, out := process(t, path)
			if kills > 0 {
				time.AfterFunc(time.Duration(rand.Int64N(int64(takes))), func() { c.Process.Kill() })
			}
			if ended = c.Wait() == nil; !ended {
				kills--
				if c.ProcessState.ExitCode() != -1 {
					t.Fatalf("not killed, but %v: %s", c.ProcessState, out)
				}
			}
			goneOn += strings.Count(out.String(), "going on after epoch")
		}
		equal(t, outcomes(t, path), want)
	}
	t.Logf("%d trainings were gone on with", goneOn)
}

// missing returns the steps of a plan that can be made now.
func missing(p Plan) (steps []Step) {
	for _, s := range p.Steps {
		if !s.Done && !s.Provisional {
			steps = append(steps, s)
		}
	}
	return steps
}

// TestClaimedRunsAreLeft: while another process holds the claims of all runs, this process waits, and makes none of
// them.
func TestClaimedRunsAreLeft(t *testing.T) {
	r := runner(t, filepath.Join(t.TempDir(), "runs.sqlite"))
	r.Datasets = []string{"minesweeper"}
	p, err := r.Plan(searches)
	if err != nil {
		t.Fatal(err)
	}
	var others []*Claim
	for _, s := range missing(p) {
		own, err := ClaimsOf(r.Store).Try(s.Key)
		if own == nil || err != nil {
			t.Fatal(own, err)
		}
		others = append(others, own)
	}
	waited := false
	r.Notice = func(text string) {
		waited = waited || strings.HasPrefix(text, "waiting for other processes")
		for _, o := range others {
			o.Release()
		}
	}
	var made []string
	r.Ended = func(record Record) {
		if !waited {
			t.Error("made what another process has claimed")
		}
		made = append(made, record.Key)
	}
	if err := r.Run(t.Context(), searches); err != nil || !waited || len(made) != 4 {
		t.Errorf("waited %v, made %d, %v", waited, len(made), err)
	}
	slices.Sort(made)
	if len(slices.Compact(made)) != 4 {
		t.Error("made one twice")
	}
}

// TestCheckpointOfAnotherVersion: a training does not go on from a checkpoint that was saved with another version of
// Go. The training starts over, and a notice says so.
func TestCheckpointOfAnotherVersion(t *testing.T) {
	r := runner(t, filepath.Join(t.TempDir(), "runs.sqlite"))
	r.Datasets = []string{"minesweeper"}
	g, err := r.Load(t.Context(), "minesweeper")
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Engine()
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Plan(searches)
	if err != nil {
		t.Fatal(err)
	}
	task := missing(p)[0].Task
	own, err := ClaimsOf(r.Store).Try(task.Key())
	if err != nil {
		t.Fatal(err)
	}
	k := own.Training(time.Nanosecond)
	k.Versions["go"] = "go1.0"
	if _, err := train.Fit(t.Context(), e, g, task.Split, task.Config, &train.Options{Checkpoint: k}); err != nil {
		t.Fatal(err)
	}
	own.Release()
	told := ""
	r.Notice = func(text string) { told += text }
	if err := r.Run(t.Context(), searches); err != nil || !strings.Contains(told, "starts over") ||
		!strings.Contains(told, "was made with go go1.0") {
		t.Errorf("told %q, %v", told, err)
	}
}
