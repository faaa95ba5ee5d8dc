package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/revgnn/revgnn/pkg/metrics"
)

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
	Iterations *Iterations `json:"iterations,omitempty"`
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

// Iterations are means per reverse layer.
type Iterations struct {
	Solve   float64 `json:"solve"`
	Adjoint float64 `json:"adjoint"`
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
