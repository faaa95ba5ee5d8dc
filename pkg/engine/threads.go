package engine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// ThreadsVariable is the name of the environment variable with the number of threads that XLA uses on the CPU.
const ThreadsVariable = "REVGNN_THREADS"

// pluginVariable is the name of an environment variable. When XLA's CPU plugin is opened, it reads from this variable
// how many threads it shall use. If the variable is not set, the plugin uses as many threads as there are cores.
const pluginVariable = "NPROC"

// MostThreads is the largest number of threads that may be set.
const MostThreads = 1024

// Threads is the number of threads that XLA uses on the CPU. It is the value of the environment variable REVGNN_THREADS
// or, if this is not set, of the variable NPROC. If neither is set, it is the number of cores that this process may
// use. XLA divides sums among the threads, so that the last digits of results depend on the number of threads. The
// results do not depend on the number of cores: one thread on two cores gives the same numbers as one thread on one
// core. The pure-Go engine gives the same numbers on any number of cores.
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

// withThreads calls the function open, which opens a plugin, and makes this plugin use n threads. The plugin has no
// option for the number of threads, but reads the number from an environment variable when it is opened. So withThreads
// sets this variable, calls open, and then restores the variable.
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
