package engine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// ThreadsVariable is the environment variable with the number of threads that XLA uses on the CPU.
const ThreadsVariable = "REVGNN_THREADS"

// pluginVariable is the environment variable from which XLA's CPU plugin reads its number of threads when it is
// opened; the default is the number of cores.
const pluginVariable = "NPROC"

// MostThreads is the largest number of threads that may be set.
const MostThreads = 1024

// Threads is the number of threads that XLA uses on the CPU: REVGNN_THREADS, else the number of cores available to
// this process. XLA divides sums among the threads, so that the last digits of results depend on the number of
// threads, but not on the number of cores: one thread on two cores gives the same numbers as one core. The pure-Go
// engine gives the same numbers on any number of cores.
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

// withThreads opens a plugin that will use n threads. The plugin has no option for this, and reads the environment
// once, here; afterwards the environment is restored.
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
