package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend" // registers "go"
	"github.com/gomlx/go-xla/compute/xla"  // registers "xla"
	"github.com/gomlx/go-xla/pjrt"
)

// Variable is the environment variable that names the engine where none is given.
const Variable = "REVGNN_ENGINE"

// The engines, in order of preference.
const (
	CUDA = "xla:cuda"
	CPU  = "xla:cpu"
	Go   = "go"
)

// Engine is an opened backend on which GoMLX graphs are compiled and run.
type Engine struct {
	// Backend allows loops inside loops, unlike GoMLX's own; see nested.go.
	Backend compute.Backend
	// Name is xla:cuda, xla:cpu or go.
	Name string
	// Plugin is the path of the PJRT plugin, empty for the pure-Go engine, and Version the plugin's own description.
	Plugin, Version string
	// Why says in a sentence why this engine was chosen.
	Why string
	// Threads is the number of threads that XLA uses on the CPU (see [Threads]); 0 for other engines, whose results do
	// not depend on the number of threads.
	Threads int
}

var (
	opened = map[string]*Engine{}
	mutex  sync.Mutex
	// interposed is the path of the CPU plugin if [interpose] opened it; go-xla does not list a plugin opened in this
	// way.
	interposed atomic.Pointer[string]
)

// cudaConfig are go-xla's options for NVIDIA GPUs. The process takes GPU memory as needed, instead of most of it at
// the start. Matrix products are in float32: with inputs rounded to TF32, fixed points could not be found to 1e-5.
const cudaConfig = CUDA + ",preallocate=false,tf32=false"

// cpuOptions makes the CPU plugin offer one device. Its default is four, with as many threads, also on machines with
// fewer cores: four threads on two cores wait for each other, and make an epoch 10 to 20 % longer.
var cpuOptions = pjrt.NamedValuesMap{"cpu_device_count": int64(1)}

// Open opens an engine by name: "xla:cuda" (or "cuda"), "xla:cpu" (or "cpu"), or "go". "" stands for the engine named
// by REVGNN_ENGINE, else for the first of these that the machine has: CUDA with an NVIDIA GPU and its plugin, XLA on
// the CPU with its plugin, pure Go. Each engine is opened once per process.
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
			"set %s before, or start the programme anew", name, e.Threads, threads, ThreadsVariable)
	} else if e != nil {
		return e, nil
	}
	config, path := name, Plugins()[strings.TrimPrefix(name, "xla:")]
	switch name {
	case Go:
		// If operations ran in parallel, those that wait in nested loops would take all workers and block each other
		// (compute v0.1.6).
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

// Choose is the name of the engine that [Open] would open for a name. It opens nothing.
func Choose(name string) (string, error) {
	resolved, _, err := choose(name)
	return resolved, err
}

// choose resolves a name to an engine and the reason for it.
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
	case damaged != nil: // do not fall back on an engine that is slower and gives other numbers
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

// HasGPU tells whether the machine has an NVIDIA device.
func HasGPU() bool {
	found, _ := filepath.Glob("/dev/nvidia[0-9]*")
	return len(found) > 0
}
