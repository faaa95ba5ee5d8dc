package engine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// ThreadsVariable names the environment variable with the number of XLA's threads on the CPU.
const ThreadsVariable = "REVGNN_THREADS"

// pluginVariable is where XLA's CPU plugin reads its number of threads when it is opened; else it takes all cores.
const pluginVariable = "NPROC"

// MostThreads is the largest number of threads that may be set.
const MostThreads = 1024

// Threads is the number of XLA's threads on the CPU: REVGNN_THREADS, or NPROC, or the cores that this process may use.
// XLA divides sums among threads, so that last digits depend on their number, but not on the number of cores. Pure Go
// gives the same numbers on any machine.
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

// withThreads opens a plugin with n threads, by the environment variable, which it then restores.
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
