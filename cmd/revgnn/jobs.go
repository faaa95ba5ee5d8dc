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
	*cluster
}

const mostJobs = 256

// helper names the environment variable that tells a process that another one has started it, which holds its input
// open (value child), or that it is a worker on a cluster (value worker).
const helper, child, worker = "REVGNN_HELPER", "child", "worker"

func helps() bool { return os.Getenv(helper) != "" }

func (a *app) jobs(f *pflag.FlagSet) *jobs {
	j := &jobs{app: a, cluster: onCluster(f)}
	f.IntVar(&j.count, "jobs", 1, "trainings side by side, each on its share of the cores and of the memory (of a GPU, "+
		"if there is one); with --on slurm, workers")
	return j
}

// share checks the flag, and limits this process and those that it starts to their shares. --threads is of each job.
func (j *jobs) share(c *cobra.Command) error {
	if j.count < 1 || j.count > mostJobs {
		return usagef("--jobs is %d: give a number from 1 to %d", j.count, mostJobs)
	}
	if done, err := j.cluster.check(c); done || err != nil {
		return err
	}
	if os.Getenv(helper) == child {
		go func() { // the input ends with the process that started this one
			io.Copy(io.Discard, os.Stdin)
			syscall.Kill(os.Getpid(), syscall.SIGTERM)
		}()
	}
	if j.count == 1 {
		return nil
	}
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

// beside starts processes of this command with further arguments each, whose messages are shown among this one's, does
// something, and waits for their end. It returns how many failed. When ctx or this process ends, or if do fails, they
// are asked to end after their current step: they do not get what the terminal sends.
func (j *jobs) beside(ctx context.Context, more [][]string, do func() error) (failed int, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var started []*exec.Cmd
	for _, args := range more {
		var self string
		if self, err = os.Executable(); err != nil {
			break
		}
		c := exec.CommandContext(ctx, self, slices.Concat(os.Args[1:], args, []string{"--jobs=1"})...)
		c.Env = append(os.Environ(), helper+"="+child)
		c.Stderr = struct{ io.Writer }{j.stderr} // no terminal, so that there are lines in place of bars
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
		c.WaitDelay = time.Hour // for the current step
		if _, err = c.StdinPipe(); err == nil {
			err = c.Start()
		}
		if err != nil {
			break
		}
		started = append(started, c)
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("--jobs: another process cannot be started: %w", err)
	} else {
		err = do()
	}
	if err != nil {
		stop()
	}
	for _, c := range started {
		if c.Wait() != nil {
			failed++
		}
	}
	return failed, err
}
