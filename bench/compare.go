package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
)

// compare runs the chosen cases; interrupted, it writes what there is.
func (o *options) compare(ctx context.Context, all []Case) error {
	chosen, err := selected(all, o.cases)
	if err != nil {
		return err
	}
	switch {
	case o.rounds < 1:
		return fmt.Errorf("rounds is %d: choose at least 1", o.rounds)
	case o.steps < 0 || o.steps == 1:
		return fmt.Errorf("steps is %d: choose 2 at least, since the first is not counted", o.steps)
	}
	if err = o.check(o.out); err == nil {
		err = files.Writable(o.out)
	}
	if err != nil {
		return err
	}
	r := &Report{Machine: examine(o.setup), Rounds: o.rounds, Started: now()}
	var programs []string
	programs, r.Missing = o.available()
	for _, which := range slices.Sorted(maps.Keys(r.Missing)) {
		fmt.Fprintf(os.Stderr, "bench: without the %s: %s\n", which, r.Missing[which])
	}
	for i, c := range chosen {
		fmt.Fprintf(os.Stderr, "bench: case %d of %d, %s\n", i+1, len(chosen), c.Name)
		if o.steps > 0 {
			c.config.Epochs, c.Authors.Steps = o.steps, min(o.steps, c.Authors.Steps)
		}
		x, failed := o.one(ctx, c, programs)
		if x != nil {
			r.Results = append(r.Results, x)
		}
		r.Finished = now()
		if err := r.write(o.out); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted; %d cases are finished, see %s", len(r.Results), o.out)
		}
		if failed != nil { // the others are still timed
			fmt.Fprintf(os.Stderr, "bench: case %s: %v\n", c.Name, failed)
		}
	}
	text, err := r.markdown()
	if err != nil {
		return err
	}
	fmt.Print(text)
	fmt.Fprintf(os.Stderr, "bench: written to %s\n", o.out)
	return nil
}

// one runs every program once in each round. With an error, the result has what was finished.
func (o *options) one(ctx context.Context, c Case, programs []string) (*Result, error) {
	p, err := prepare(ctx, c, o.out, datasets.Options{Dir: o.data})
	if err != nil {
		return nil, err
	}
	x := &Result{Case: c, Graph: p, Skipped: map[string]string{}}
	defer x.summarise()
	if c.Peer == pyg && slices.Contains(programs, Peer) {
		if err := o.trial(ctx, x); err != nil {
			return x, err
		}
	}
	for round := range o.rounds {
		for _, which := range programs {
			free := int64(0)
			if which == Authors {
				free = o.doctor().Free
			}
			args, skip := o.command(which, c, x.Graph, free)
			if skip != "" {
				x.Skipped[which] = skip
				continue
			}
			r, err := execute(ctx, which, round+1, args, o.limit)
			if err != nil {
				return x, err
			}
			x.Runs = append(x.Runs, r)
			fmt.Fprintf(os.Stderr, "bench:   round %d, %s: %s\n", round+1, which, told(r))
		}
	}
	return x, nil
}

// layouts are the data structures in which pyg.py can give a graph to PyTorch Geometric.
var layouts = []string{"edges", "csr", "EdgeIndex"}

// trialSteps is the number of training steps in the trial of one layout.
const trialSteps = 4

// trial trains a few steps in each layout to find the fastest.
func (o *options) trial(ctx context.Context, x *Result) error {
	c, p := x.Case, x.Graph
	c.config.Epochs = trialSteps
	x.Layouts = map[string]float64{}
	for _, p.Layout = range layouts {
		args, _ := o.command(Peer, c, p, 0)
		r, err := execute(ctx, Peer, 0, args, o.limit)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "bench:   trial of layout %s: %s\n", p.Layout, told(r))
		if r.Error != "" {
			continue
		}
		x.Layouts[p.Layout] = r.EpochSeconds
		if x.Graph.Layout == "" || r.EpochSeconds < x.Layouts[x.Graph.Layout] {
			x.Graph.Layout = p.Layout
		}
	}
	return nil
}

func told(r Run) string {
	if r.Error != "" {
		return r.Error
	}
	return fmt.Sprintf("%.4g s per epoch, %.0f MB, %.0f s in all", r.EpochSeconds, float64(r.PeakBytes)/1e6, r.Seconds)
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// Run is one program's training of a case, in a process of its own.
type Run struct {
	Program string `json:"program"`
	Round   int    `json:"round"`
	// EpochSeconds is the median time of a training step, without the first step. CompileSeconds is the time to compile
	// the training step. Only revgnn reports it.
	EpochSeconds   float64 `json:"epoch_seconds"`
	CompileSeconds float64 `json:"compile_seconds,omitempty"`
	// PeakBytes is the process's largest resident memory, as the system counts it.
	PeakBytes int64 `json:"peak_bytes"`
	// Iterations has the mean numbers of iterations per reverse layer, for solves and for adjoint solves.
	Iterations *train.Iterations `json:"iterations,omitempty"`
	// Losses has the training loss before each step.
	Losses   []float64         `json:"losses"`
	Engine   string            `json:"engine,omitempty"`
	Threads  int               `json:"threads,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
	// Seconds is the time that the whole process took. Load is the average load of the machine before the process
	// started.
	Seconds float64 `json:"seconds"`
	Load    string  `json:"load"`
	// Error says why there are no numbers.
	Error string `json:"error,omitempty"`
}

// execute runs a command line within the limit. Error says why a run failed; an error means interrupted.
func execute(ctx context.Context, which string, round int, args []string, limit time.Duration) (r Run, err error) {
	r = Run{Program: which, Round: round, Load: load()}
	limited, stop := context.WithTimeout(ctx, limit)
	defer stop()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(limited, args[0], args[1:]...)
	c.Stdout, c.Stderr, c.WaitDelay = &stdout, &stderr, 5*time.Second
	start := time.Now()
	failed := c.Run()
	r.Seconds = time.Since(start).Seconds()
	if c.ProcessState != nil {
		r.PeakBytes = peak(c.ProcessState)
	}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case limited.Err() != nil:
		r.Error = fmt.Sprintf("stopped after the limit of %s", limit)
	case failed != nil:
		r.Error = fmt.Sprintf("%v: %s", failed, last(stderr.String()))
	default:
		if bad := r.read(stdout.Bytes()); bad != nil {
			r.Error = bad.Error()
		}
	}
	return r, nil
}

// read reads what the program wrote: revgnn the median time of a step, scripts the times of all.
func (r *Run) read(document []byte) error {
	p := struct {
		*Run
		Seconds []float64  `json:"seconds"`
		Losses  []*float64 `json:"losses"`
	}{Run: r}
	if err := json.Unmarshal(document, &p); err != nil {
		return fmt.Errorf("it wrote no JSON document: %w", err)
	}
	if len(p.Seconds) > 1 {
		r.EpochSeconds = metrics.Median(p.Seconds[1:])
	}
	for i, l := range p.Losses {
		if l == nil {
			return fmt.Errorf("the loss was not finite in step %d", i+1)
		}
		r.Losses = append(r.Losses, *l)
	}
	if !(r.EpochSeconds > 0) || len(r.Losses) == 0 {
		return errors.New("it reports no time or no losses: give two steps at least")
	}
	return nil
}

// peak is the largest resident memory of a process that has ended, 0 if unknown.
func peak(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // bytes there, KiB elsewhere
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) * 1024
}

func last(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if len(line) > 300 {
		line = line[:300]
	}
	return line
}

// load is the machine's average load, "" if unknown.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(b))[:3], " ")
}
