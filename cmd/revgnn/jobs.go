package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/train"
)

// jobs is the setting of a command whose trainings may run side by side, in a process each.
type jobs struct {
	*app
	count int
	args  []string
}

const mostJobs = 256

func (a *app) jobs(f *pflag.FlagSet) *jobs {
	j := &jobs{app: a}
	f.IntVar(&j.count, "jobs", 1, "trainings side by side, each on its share of the cores and of the memory (of a GPU, "+
		"if there is one)")
	return j
}

// share checks the flag, and limits this process and those that it starts to their shares. --threads is of each job.
func (j *jobs) share(c *cobra.Command) error {
	if j.count < 1 || j.count > mostJobs {
		return usagef("--jobs is %d: give a number from 1 to %d", j.count, mostJobs)
	}
	if j.count == 1 {
		return nil
	}
	j.args = os.Args[1:]
	name, _, err := engine.Choose(j.engineName)
	if err != nil {
		return err
	}
	if !c.Flags().Changed("threads") && os.Getenv(engine.ThreadsVariable) == "" {
		if err := os.Setenv(engine.ThreadsVariable, strconv.Itoa(max(1, machine.Cores()/j.count))); err != nil {
			return err
		}
	}
	_, free := machine.Memory()
	if name == engine.CUDA {
		free = machine.GPUMemory()
	}
	if os.Getenv(train.MemoryVariable) != "" || free == 0 {
		return nil
	}
	return os.Setenv(train.MemoryVariable, strconv.FormatFloat(float64(free)/float64(j.count)/(1<<30), 'f', 2, 64))
}

// start starts a process of this command with further arguments, whose messages are shown among this one's. When ctx
// ends, it is asked to end after its current step, once: it does not get what the terminal sends.
func (j *jobs) start(ctx context.Context, more ...string) (wait func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("--jobs: this program cannot be found: %w", err)
	}
	c := exec.CommandContext(ctx, self, slices.Concat(j.args, more, []string{"--jobs=1"})...)
	c.Stderr = struct{ io.Writer }{j.stderr} // no terminal, so that there are lines in place of bars
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = time.Hour // for the current step
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("--jobs: another process cannot be started: %w", err)
	}
	return c.Wait, nil
}

// helped does work that processes share, while others with further arguments do the same: all jobs but this one.
func (j *jobs) helped(ctx context.Context, do func() error, more ...string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for range j.count - 1 {
		wait, err := j.start(ctx, more...)
		if err != nil {
			return err
		}
		defer wait()
	}
	defer stop() // when this one is done, all is made or claimed
	return do()
}
