// Package engine chooses and opens an engine, which compiles and runs GoMLX's computation graphs (a backend, in GoMLX's
// word), and says which and why: XLA on an NVIDIA GPU, XLA on the CPU, both through plugins with the C interface PJRT,
// or pure Go, which needs no download and is some fifty times slower.
//
// On Linux, XLA's compiled programs are kept in a folder and loaded when the same graph is compiled again, also by
// later processes. Each backend is wrapped (nested.go), to work around faults of GoMLX and of the engines.
//
// The package handles no signals. Of the environment, NPROC is set while the CPU plugin is opened, which reads its
// number of threads from it; importing go-xla sets TF_CPP_MIN_LOG_LEVEL to 3 if unset.
// Options for XLA's compiler are passed with each graph.
package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend" // makes GoMLX know the engine "go"
	"github.com/gomlx/go-xla/compute/xla"  // makes GoMLX know the engine "xla"
	"github.com/gomlx/go-xla/pjrt"

	"github.com/revgnn/revgnn/pkg/machine"
)

// Variable names the environment variable with the engine that [Open] opens if it is given no name.
const Variable = "REVGNN_ENGINE"

// The names of the engines. [Open] prefers CUDA to CPU, and CPU to Go.
const (
	CUDA = "xla:cuda"
	CPU  = "xla:cpu"
	Go   = "go"
)

// Engine is an opened engine, on which computation graphs of GoMLX are compiled and run.
type Engine struct {
	Backend compute.Backend
	// Name is the name of the engine: xla:cuda, xla:cpu or go.
	Name string
	// Plugin is the path of XLA's plugin, Version its description; both are empty for pure Go.
	Plugin, Version string
	// Why says in a sentence why this engine was chosen.
	Why string
	// Threads is the number of XLA's threads on the CPU, on which last digits depend (see [Threads]), else 0.
	Threads int
}

var (
	opened = map[string]*Engine{}
	mutex  sync.Mutex
	// interposed has the paths of the plugins cpu and cuda that interpose has loaded, so that go-xla does not know them.
	interposed sync.Map
)

// cudaConfig takes GPU memory when it is needed, not most of it at the start, and multiplies in float32: with TF32's 10
// bits a fixed-point iteration could not reach a tolerance of 1e-5.
const cudaConfig = ",preallocate=false,tf32=false"

// cpuOptions makes the CPU plugin offer one device, not four with a thread each: on two cores these wait for each
// other, and an epoch takes 10 to 20 % longer.
var cpuOptions = pjrt.NamedValuesMap{"cpu_device_count": int64(1)}

// Open opens an engine by name: "xla:cuda" (or "cuda"), "xla:cpu" (or "cpu") or "go"; for "", the one that
// REVGNN_ENGINE names, or else the first of these that is there: the CUDA plugin and an NVIDIA GPU, the CPU plugin,
// pure Go. A damaged plugin is an error, unless the name is "go". An engine is opened once in a process.
func Open(name string) (*Engine, error) {
	mutex.Lock()
	defer mutex.Unlock()
	name, why, err := Choose(name)
	if err != nil {
		return nil, err
	}
	threads := 0
	if name == CPU {
		if threads, err = Threads(); err != nil {
			return nil, err
		}
	}
	if e := opened[name]; e != nil && e.Threads != threads {
		return nil, fmt.Errorf("engine %s computes on %d threads since it was opened, and is asked for %d: "+
			"set %s before, or start the program anew", name, e.Threads, threads, ThreadsVariable)
	} else if e != nil {
		return e, nil
	}
	path := Plugins()[strings.TrimPrefix(name, "xla:")]
	var backend compute.Backend
	switch name {
	case Go:
		// One operation after the other: in parallel, operations that wait for an inner loop can occupy all threads, so
		// that it never runs (compute v0.1.6).
		backend, err = compute.NewWithConfig("go:ops_sequential")
	case CPU:
		// Beside the plugin: the processor's instructions, the threads.
		if interpose(cpuPlugin, "cpu", path, compileOptions(os.Getenv("XLA_FLAGS")),
			fmt.Sprint(processor(), threads, cpuOptions)) {
			interposed.Store("cpu", path)
		}
		err = withThreads(threads, func() (err error) {
			backend, err = xla.NewWithOptions("cpu", cpuOptions)
			return err
		})
	case CUDA:
		plugin := path
		if interpose(cudaPlugin, "cuda", path,
			cudaOptions(os.Getenv("XLA_FLAGS"), cudaTools(path), os.Getenv(CUDAGraphs)),
			gpus()) {
			interposed.Store("cuda", path)
			plugin = "cuda"
		}
		backend, err = xla.New(plugin + cudaConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("engine %s cannot be opened: %w; "+
			"run 'revgnn doctor', or choose another with --engine or %s", name, err, Variable)
	}
	e := &Engine{Backend: &nested{backend}, Name: name, Why: why, Plugin: path, Threads: threads}
	if name != Go {
		e.Version = strings.Replace(backend.Description(), preloaded, path, 1)
	}
	opened[name] = e
	return e, nil
}

// Choose names the engine that [Open] would open, and says in a sentence why.
func Choose(name string) (resolved, why string, err error) {
	source := "asked for with --engine"
	if name == "" {
		name, source = os.Getenv(Variable), "named by "+Variable
	}
	plugins, damaged := installed()
	gpu := HasGPU()
	need := func(engine, plugin string) (string, string, error) {
		if damaged != nil {
			return "", "", fmt.Errorf("engine %s (%s) cannot be opened: %w, or choose another engine", engine, source, damaged)
		}
		if plugins[plugin] == "" {
			return "", "", fmt.Errorf("engine %s (%s) has no plugin in %s: run 'revgnn install-plugin %s', "+
				"or choose another engine", engine, source, searched(), plugin)
		}
		if engine == CUDA && !gpu {
			return "", "", fmt.Errorf("engine %s (%s) needs an NVIDIA GPU, and this machine has none: choose another engine",
				engine, source)
		}
		return engine, source, nil
	}
	switch strings.ToLower(name) {
	case "":
	case CUDA, "cuda", "gpu":
		return need(CUDA, "cuda")
	case CPU, "cpu", "xla":
		return need(CPU, "cpu")
	case Go:
		return Go, source, nil
	default:
		return "", "", fmt.Errorf("unknown engine %q (%s): choose %s, %s or %s", name, source, CUDA, CPU, Go)
	}
	switch {
	case damaged != nil: // No other engine is chosen, since it would be slower and give other numbers.
		return "", "", fmt.Errorf("no engine can be chosen: %w, or choose one with --engine or %s", damaged, Variable)
	case gpu && plugins["cuda"] != "":
		return CUDA, "an NVIDIA GPU and its XLA plugin are installed", nil
	case plugins["cpu"] != "" && gpu:
		return CPU, "the XLA CPU plugin is installed; there is an NVIDIA GPU, but no CUDA plugin", nil
	case plugins["cpu"] != "":
		return CPU, "the XLA CPU plugin is installed and there is no NVIDIA GPU", nil
	}
	return Go, "no XLA plugin is installed (run 'revgnn install-plugin' for one some fifty times as fast)", nil
}

// gpus says what programs for GPUs depend on beside the plugin: the models, which of them are visible, and the driver;
// "" if the models are not known.
func gpus() string {
	models := machine.GPUs()
	if len(models) == 0 {
		return ""
	}
	return fmt.Sprint(models, os.Getenv("CUDA_VISIBLE_DEVICES"), machine.GPUDriver())
}

// cudaTools is the folder with ptxas and libdevice beside the plugin at path, or "", where XLA searches itself.
func cudaTools(path string) string {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		for _, at := range []string{"nvidia/cu13", "nvidia/cuda_nvcc"} {
			if _, err := os.Stat(filepath.Join(dir, at, "bin/ptxas")); err == nil {
				return filepath.Join(dir, at)
			}
		}
	}
	return ""
}

func HasGPU() bool {
	found, _ := filepath.Glob("/dev/nvidia[0-9]*")
	return len(found) > 0
}

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
	return machine.Cores(), nil
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
