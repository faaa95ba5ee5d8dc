package engine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// ThreadsVariable is the environment variable that says on how many threads XLA computes on the CPU.
const ThreadsVariable = "REVGNN_THREADS"

// pluginVariable is what XLA's CPU plugin reads when it is opened: the number of threads in place of that of cores.
const pluginVariable = "NPROC"

// MostThreads is the largest number of threads that may be asked for.
const MostThreads = 1024

// Threads is the number of threads on which XLA computes on the CPU: REVGNN_THREADS, else as many as there are cores
// for this process. XLA cuts sums into as many pieces, so that results depend on it in their last digits, and on it
// alone: one thread on two cores gives the numbers of one core, and two threads those of two. The pure-Go engine gives
// the same numbers on any number of cores.
func Threads() (int, error) {
	for _, name := range []string{ThreadsVariable, pluginVariable} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err == nil && n >= 1 && n <= MostThreads {
			return n, nil
		}
		if name == ThreadsVariable {
			return 0, fmt.Errorf("%s is %q: give a number of threads from 1 to %d", name, text, MostThreads)
		}
	}
	return runtime.NumCPU(), nil
}

// withThreads opens a plugin that is to compute on n threads. The plugin has no option for it, and looks into the
// environment once, here; afterwards the environment is as it was.
func withThreads(n int, open func() error) error {
	before, was := os.LookupEnv(pluginVariable)
	if err := os.Setenv(pluginVariable, strconv.Itoa(n)); err != nil {
		return err
	}
	defer func() {
		if was {
			os.Setenv(pluginVariable, before)
		} else {
			os.Unsetenv(pluginVariable)
		}
	}()
	return open()
}
