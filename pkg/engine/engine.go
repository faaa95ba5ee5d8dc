package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend" // makes GoMLX know the engine "go"
	"github.com/gomlx/go-xla/compute/xla"  // makes GoMLX know the engine "xla"
	"github.com/gomlx/go-xla/pjrt"
)

// Variable is the name of the environment variable that says which engine to open if [Open] is given no name.
const Variable = "REVGNN_ENGINE"

// The names of the engines. [Open] prefers CUDA to CPU, and CPU to Go.
const (
	CUDA = "xla:cuda"
	CPU  = "xla:cpu"
	Go   = "go"
)

// Engine is an opened engine, on which computation graphs of GoMLX are compiled and run.
type Engine struct {
	// Backend is the backend on which GoMLX compiles and runs graphs. On this backend, a loop may contain another loop.
	// (GoMLX does not allow this on the wrapped backend; see nested.go.)
	Backend compute.Backend
	// Name is the name of the engine: xla:cuda, xla:cpu or go.
	Name string
	// Plugin is the path of XLA's plugin. Version is a line of text that describes the plugin and names its version.
	// For the pure-Go engine, both are empty.
	Plugin, Version string
	// Why says in a sentence why this engine was chosen.
	Why string
	// Threads is the number of threads that XLA uses on the CPU. The last digits of results depend on this number (see
	// [Threads]). For the engines xla:cuda and go, Threads is 0.
	Threads int
}

var (
	opened = map[string]*Engine{}
	mutex  sync.Mutex
	// interposed is the path of the CPU plugin if the function interpose has loaded the plugin. (That function makes
	// go-xla call a compile function of this package.) In this case go-xla does not know the path, so that it is stored
	// here.
	interposed atomic.Pointer[string]
)

// cudaConfig is the name of the CUDA engine with two options for go-xla. With preallocate=false, the process takes GPU
// memory when it needs it. By default it would take most of the GPU's memory at the start. With tf32=false, matrix
// products use float32. By default their inputs would be rounded to TF32, a number format with 10 bits of precision,
// and a fixed-point iteration could not reach a tolerance of 1e-5.
const cudaConfig = CUDA + ",preallocate=false,tf32=false"

// cpuOptions makes the CPU plugin offer one device. (Devices are what programs run on. Several devices could run
// several programs at the same time, but revgnn uses only one.) By default, the plugin offers four devices and starts
// at least four threads, also on a machine with fewer cores. On two cores, the four threads wait for each other, and an
// epoch takes 10 to 20 % longer.
var cpuOptions = pjrt.NamedValuesMap{"cpu_device_count": int64(1)}

// Open opens an engine by name: "xla:cuda" (or "cuda"), "xla:cpu" (or "cpu"), or "go". If the name is "", Open takes
// the name from the environment variable REVGNN_ENGINE. If this variable is not set, Open chooses an engine. It chooses
// "xla:cuda" if the machine has an NVIDIA GPU and the CUDA plugin is installed. Otherwise it chooses "xla:cpu" if the
// CPU plugin is installed, and "go" if it is not. If an installed plugin is damaged, Open returns an error, unless the
// name is "go". Each engine is opened only once in a process, and later calls return the same engine.
func Open(name string) (*Engine, error) {
	mutex.Lock()
	defer mutex.Unlock()
	name, why, err := choose(name)
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
	config, path := name, Plugins()[strings.TrimPrefix(name, "xla:")]
	switch name {
	case Go:
		// The option ops_sequential makes the engine run one operation after the other. If operations ran in parallel,
		// a program with a loop inside a loop might never end: operations that wait for the inner loop could occupy all
		// threads of the engine, so that the inner loop could not run. (This was seen with version 0.1.6 of the module
		// compute.)
		config = "go:ops_sequential"
	case CPU:
		if interpose("cpu", path, threads) {
			interposed.Store(&path)
		}
	case CUDA:
		config = cudaConfig
	}
	backend, err := open(config, threads)
	if err != nil {
		return nil, fmt.Errorf("engine %s cannot be opened: %w; "+
			"run 'revgnn doctor', or choose another with --engine or %s", name, err, Variable)
	}
	e := &Engine{Backend: &nested{backend}, Name: name, Why: why, Plugin: path, Threads: threads}
	if name != Go {
		e.Version = strings.Replace(backend.Description(), "_preloaded_", path, 1)
	}
	opened[name] = e
	return e, nil
}

// open opens the GoMLX backend of an engine. The argument config is the name of the engine, with options if there are
// any, such as "go:ops_sequential". The argument threads is the number of threads for XLA on the CPU. For the other
// engines, threads is not used.
func open(config string, threads int) (b compute.Backend, err error) {
	if config == CPU {
		err = withThreads(threads, func() (err error) {
			b, err = xla.NewWithOptions("cpu", cpuOptions)
			return err
		})
		return b, err
	}
	return compute.NewWithConfig(config)
}

// Choose returns the name of the engine that [Open] would open for the given name, without opening it.
func Choose(name string) (string, error) {
	resolved, _, err := choose(name)
	return resolved, err
}

// choose returns the name of the engine that [Open] opens for the given name. why says in words why this engine was
// chosen.
func choose(name string) (resolved, why string, err error) {
	source := "asked for with --engine"
	if name == "" {
		name, source = os.Getenv(Variable), "named by "+Variable
	}
	plugins, damaged := installed()
	need := func(engine, plugin string) (string, string, error) {
		if damaged != nil {
			return "", "", fmt.Errorf("engine %s (%s) cannot be opened: %w, or choose another engine", engine, source, damaged)
		}
		if plugins[plugin] == "" {
			return "", "", fmt.Errorf("engine %s (%s) has no plugin in %s: run 'revgnn install-plugin %s', "+
				"or choose another engine", engine, source, searched(), plugin)
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
	gpu := HasGPU()
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

// HasGPU tells whether the machine has an NVIDIA GPU.
func HasGPU() bool {
	found, _ := filepath.Glob("/dev/nvidia[0-9]*")
	return len(found) > 0
}
