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
	// Backend is the engine as GoMLX sees it. Loops may contain loops on this backend, unlike on GoMLX's own backends;
	// see nested.go.
	Backend compute.Backend
	// Name is xla:cuda, xla:cpu or go.
	Name string
	// Plugin is the path of XLA's plugin, and Version describes the plugin and its version in a line of text. Both are
	// empty for the pure-Go engine.
	Plugin, Version string
	// Why says in a sentence why this engine was chosen.
	Why string
	// Threads is the number of threads that XLA uses on the CPU (see [Threads]). It is 0 for the other engines, whose
	// results do not depend on the number of threads.
	Threads int
}

var (
	opened = map[string]*Engine{}
	mutex  sync.Mutex
	// interposed is the path of the CPU plugin if the function interpose opened this plugin. go-xla's list of plugins
	// does not contain the path in this case, so that it is stored here.
	interposed atomic.Pointer[string]
)

// cudaConfig are the options for go-xla on NVIDIA GPUs. preallocate=false makes the process take GPU memory when it is
// needed, instead of most of the GPU's memory at the start. tf32=false makes matrix products use float32. Otherwise
// the inputs of products would be rounded to TF32, which has 10 bits of precision. A fixed-point iteration could then
// not reach a tolerance of 1e-5.
const cudaConfig = CUDA + ",preallocate=false,tf32=false"

// cpuOptions makes the CPU plugin offer a single device. By default, the plugin offers four devices with a thread each,
// even on machines with fewer cores. On two cores the four threads wait for each other, and an epoch takes 10 to 20 %
// longer.
var cpuOptions = pjrt.NamedValuesMap{"cpu_device_count": int64(1)}

// Open opens an engine by name: "xla:cuda" (or "cuda"), "xla:cpu" (or "cpu"), or "go". If the name is "", Open takes
// the name from the environment variable REVGNN_ENGINE. If this variable is not set, Open chooses the first engine of
// this list that can be used. CUDA needs an NVIDIA GPU and the CUDA plugin, XLA on the CPU needs the CPU plugin, and
// pure Go needs nothing. If an installed plugin is damaged, Open returns an error, unless the name is "go". Each engine
// is opened only once in a process, and later calls return the same engine.
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
		// Operations run one after the other. If they ran in parallel, a program with a loop inside a loop might never
		// end: operations that wait for the inner loop would occupy all threads of the engine. The inner loop could
		// then not run. (This was seen with version 0.1.6 of the module compute.)
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

// open opens a GoMLX backend by its configuration, such as "xla:cpu". The argument threads is the number of threads for
// XLA on the CPU. For the other engines it is not used.
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

// choose returns the engine that a name stands for, and says in words why it chose this engine.
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
