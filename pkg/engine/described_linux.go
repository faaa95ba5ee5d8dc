//go:build linux && cgo

package engine

/*
#include "pjrt.h"

// compile_for compiles a program for a described device, asks how much memory a run takes, and frees the result. It
// returns the plugin's error, or NULL.
static inline void *compile_for(api *a, void *topology, program *source, char *options, size_t size,
	memory_args *memory) {
	describe_args args = {sizeof args, NULL, topology, source, options, size, NULL, NULL};
	void *error = call(a, COMPILE_DESCRIBED, &args);
	if (error) return error;
	*memory = (memory_args){sizeof *memory, NULL, args.executable};
	error = call(a, MEMORY, memory);
	destroy(a, EXECUTABLE_DESTROY, args.executable);
	return error;
}

// describe makes a topology of one device from a text of XLA's target configuration.
static inline void *describe(api *a, char *target, size_t size, void **topology) {
	destroy_args none = {2 * sizeof(void *), NULL, NULL}; // a head without arguments
	void *error = call(a, INITIALIZE, &none);
	if (error) return error;
	named_value options[] = {
		{sizeof options[0], NULL, "target_config", 13, 0, target, size},
		{sizeof options[0], NULL, "topology", 8, 0, "1x1x1", 5},
	};
	topology_args args = {sizeof args, NULL, "1x1x1", 5, options, 2, NULL};
	error = call(a, CREATE_TOPOLOGY, &args);
	*topology = args.topology;
	return error;
}

static inline void message(api *a, message_args *args, void *error) {
	*args = (message_args){sizeof *args, NULL, error, NULL, 0};
	call(a, ERROR_MESSAGE, args);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"github.com/gomlx/go-xla/compute/xla"
)

// Described is an engine for a GPU that is only described and need not be there: XLA's CUDA plugin compiles for it on
// any machine. Programs of one name are compiled for it, and end with [ErrDescribed] unless Runs is set; all others run
// on the CPU, so that a model can be prepared.
type Described struct {
	*Engine
	// Last is what compiling the last program took.
	Last Compiled
	// Runs has programs that were compiled for the GPU run on the CPU, for which they are compiled once more.
	Runs     bool
	program  string
	api      *C.api
	topology unsafe.Pointer
	options  []byte
}

// Compiled is what compiling a program took, the CPU time of compiler and assembler together, and what a run takes.
type Compiled struct {
	CPUSeconds float64
	Memory     Memory
}

// ErrDescribed says that a program was compiled for a GPU that is only described.
var ErrDescribed = errors.New("compiled for a GPU that is only described, where it cannot run")

// Describe loads the CUDA plugin at path and opens an engine for the GPU that target describes (a text of XLA's
// GpuTargetConfigProto), where graphs whose names begin with the given one are compiled for it. A process can describe
// one GPU.
func Describe(path, target, program string) (*Described, error) {
	mutex.Lock()
	defer mutex.Unlock()
	if plugins[describedPlugin] != nil {
		return nil, errors.New("a GPU is described already: a process can describe one")
	}
	d := &Described{program: program, api: load(path),
		options: cudaOptions(os.Getenv("XLA_FLAGS"), cudaTools(path), os.Getenv(CUDAGraphs))}
	if d.api == nil {
		return nil, fmt.Errorf("%s is no XLA plugin that can be loaded", path)
	}
	c := C.CString(target)
	defer C.free(unsafe.Pointer(c))
	if err := d.failed(C.describe(d.api, c, C.size_t(len(target)), &d.topology)); err != nil {
		return nil, fmt.Errorf("the GPU's description is refused: %w", err)
	}
	cpu := Plugins()["cpu"]
	if cpu == "" || !interpose(describedPlugin, "described_cuda", cpu, compileOptions(""), "") {
		return nil, errors.New("describing a GPU needs XLA's CPU plugin: run 'revgnn install-plugin cpu'")
	}
	backend, err := xla.NewWithOptions("described_cuda,tf32=false", cpuOptions)
	if err != nil {
		return nil, err
	}
	plugins[describedPlugin].described = d
	d.Engine = &Engine{Backend: &nested{backend}, Name: CUDA, Plugin: path, Why: "described"}
	return d, nil
}

// failed makes a Go error of the plugin's, which it frees.
func (d *Described) failed(e unsafe.Pointer) error {
	if e == nil {
		return nil
	}
	var m C.message_args
	C.message(d.api, &m, e)
	err := errors.New(C.GoStringN(m.text, C.int(m.text_size)))
	C.destroy(d.api, C.ERROR_DESTROY, e)
	return err
}

// compile compiles a program for the described GPU. It returns an error if the program shall not run after that.
func (d *Described) compile(args *C.compile_args, options []byte) error {
	c := C.CBytes(options)
	defer C.free(c)
	spent := func() (s float64) {
		for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} { // the assembler is a child
			var r syscall.Rusage
			syscall.Getrusage(who, &r)
			s += time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
		}
		return s
	}
	var m C.memory_args
	before := spent()
	e := C.compile_for(d.api, d.topology, args.program, (*C.char)(c), C.size_t(len(options)), &m)
	if err := d.failed(e); err != nil {
		return err
	}
	d.Last = Compiled{spent() - before, *memoryOf(m)}
	if d.Runs {
		return nil
	}
	return ErrDescribed
}

// refuse returns an error of the CPU's plugin, which a program without a format gets.
func (d *Described) refuse(cpu *C.api, args *C.compile_args) unsafe.Pointer {
	size := args.program.format_size
	args.program.format_size = 0
	err := C.compile(cpu, args, args.options, args.options_size)
	args.program.format_size = size
	return err
}
