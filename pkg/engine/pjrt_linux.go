//go:build linux && cgo

package engine

/*
#cgo LDFLAGS: -ldl
#include "pjrt.h"

extern void *revgnnCompile(int, compile_args *);

// What stands for a plugin's compile function, for each of [plugins].
static inline void *compile_0(compile_args *args) { return revgnnCompile(0, args); }
static inline void *compile_1(compile_args *args) { return revgnnCompile(1, args); }
static inline void *compile_2(compile_args *args) { return revgnnCompile(2, args); }

// interpose returns a copy of a plugin's table, in which revgnnCompile takes the place of its compile function. Both
// stay in memory until the process ends.
static inline api *interpose(api *table, int number) {
	void *functions[] = {(void *)compile_0, (void *)compile_1, (void *)compile_2};
	api *copy = malloc(table->size);
	if (copy) {
		memcpy(copy, table, table->size);
		copy->functions[COMPILE] = functions[number];
	}
	return copy;
}
*/
import "C"

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/gomlx/go-xla/pjrt"
)

// plugin is a plugin whose compile function [revgnnCompile] replaces: its own functions, what a program depends on
// beside graph and options, and revgnn's options for the compiler.
type plugin struct {
	api     *C.api
	machine []byte
	options []byte
	forgets bool // programs are not kept
	// described is set for a plugin that compiles for a GPU which need not be there.
	described *Described
}

// plugins are those of the two engines, and that of [Describe].
var plugins [3]*plugin

const cpuPlugin, cudaPlugin, describedPlugin = 0, 1, 2

// load returns the functions of the plugin at path, or nil.
func load(path string) *C.api {
	c := C.CString(path)
	defer C.free(unsafe.Pointer(c))
	return C.open_plugin(c)
}

// interpose loads a plugin and makes go-xla, where it has the given name, call [revgnnCompile] for the plugin's compile
// function, since go-xla v0.4.13 can neither keep programs nor set compiler options. If it returns false, programs are
// compiled each time, by default options, and their memory is unknown. depends says on what a program depends beside
// plugin, graph and options; if it is "", programs are not kept.
func interpose(number int, name, path string, options []byte, depends string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	original := load(path)
	if original == nil {
		return false
	}
	// A kept program is used only if none of these has changed.
	machine := fmt.Appendf(nil, "%s %d %d %d.%d %s %s", path, info.Size(), info.ModTime().UnixNano(),
		original.version.major, original.version.minor, depends, os.Getenv("XLA_FLAGS"))
	plugins[number] = &plugin{api: original, machine: machine, options: options, forgets: depends == ""}
	return pjrt.RegisterPreloadedPlugin(name, uintptr(unsafe.Pointer(C.interpose(original, C.int(number))))) == nil
}

// processor lists the processor's instructions.
func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "flags") || strings.HasPrefix(line, "Features") {
			return line
		}
	}
	return runtime.GOARCH
}

// revgnnCompile takes the place of PJRT_Client_Compile of one of the plugins: it loads the kept program, or compiles
// with revgnn's options added and keeps it, and notes the memory of a run. It runs on go-xla's thread.
//
//export revgnnCompile
func revgnnCompile(number C.int, args *C.compile_args) unsafe.Pointer {
	text := func(p *C.char, size C.size_t) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(p)), size) }
	p, dir, source := plugins[number], programsDir(), args.program
	if p.forgets {
		dir = ""
	}
	now, _ := compiling.Load(syscall.Gettid())
	compiled, _ := now.(*compilation)
	given := text(args.options, args.options_size)[:args.options_size:args.options_size]
	if d := p.described; compiled != nil && d != nil && strings.HasPrefix(compiled.name, d.program) {
		if compiled.err = d.compile(args, append(given, d.options...)); compiled.err != nil {
			return d.refuse(p.api, args)
		}
	}
	options := append(given, p.options...)
	name := programName(p.machine, text(source.format, source.format_size), text(source.code, source.code_size), options)
	if !loadProgram(p.api, args, dir.load(name)) {
		c := C.CBytes(options)
		defer C.free(c)
		if err := C.compile(p.api, args, (*C.char)(c), C.size_t(len(options))); err != nil {
			return err
		}
		var out C.serialize_args
		if dir != "" && C.serialize(p.api, args.executable, &out) == 1 {
			dir.store(name, text(out.bytes, out.bytes_size), maxPrograms)
			C.release(&out)
		}
	}
	var m C.memory_args
	if compiled != nil && C.measure(p.api, args.executable, &m) == 1 {
		compiled.memory = memoryOf(m)
	}
	return nil
}

func memoryOf(m C.memory_args) *Memory {
	return &Memory{Arguments: int64(m.arguments), Outputs: int64(m.outputs), Aliased: int64(m.aliases),
		Temporary: int64(m.temporary), Code: int64(m.code)}
}

// loadProgram makes a program from kept bytes; false if there are none, or if the plugin refuses them.
func loadProgram(api *C.api, args *C.compile_args, kept []byte) bool {
	if kept == nil {
		return false
	}
	c := C.CBytes(kept)
	defer C.free(c)
	return C.load(api, args, (*C.char)(c), C.size_t(len(kept))) == 1
}

// compilation is one that goes on, of a graph with a name. compiling has those of all threads, by the threads' numbers.
type compilation struct {
	name   string
	memory *Memory
	err    error // in place of the plugin's
}

var compiling sync.Map

// measure calls compile for the graph of a name, and returns the memory of a run of what it compiled, or nil.
func measure(name string, compile func() error) (*Memory, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, c := syscall.Gettid(), &compilation{name: name}
	compiling.Store(thread, c)
	defer compiling.Delete(thread)
	err := compile()
	return c.memory, cmp.Or(c.err, err)
}
