//go:build linux && cgo

package engine

// The C code below declares a part of PJRT, the C interface of XLA's plugins (openxla/xla, xla/pjrt/c/pjrt_c_api.h):
// the functions that compile, save and load programs, and tell how much memory they take. A plugin has a table of
// pointers to its functions. Each takes a pointer to a struct of arguments, which begins with its own size. The
// declarations fit all plugins with major version 0: later minor versions only add entries at the ends of the table and
// of the structs.

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	size_t size; void *extensions;
	struct { size_t size; void *extensions; int major, minor; } version;
	void *functions[];
} api;
typedef struct {
	size_t size; void *extensions;
	char *code; size_t code_size;
	char *format; size_t format_size;
} program;
typedef struct {
	size_t size; void *extensions, *client;
	program *program;
	char *options; size_t options_size;
	void *executable; // set by the plugin
} compile_args;
typedef struct {
	size_t size; void *extensions, *client;
	char *bytes; size_t bytes_size;
	void *executable; // set by the plugin
	char *options; size_t options_size;
} load_args;
typedef struct { size_t size; void *extensions, *loaded, *executable; } executable_args;
typedef struct {
	size_t size; void *extensions, *executable;
	char *bytes; size_t bytes_size; void *backing; void (*release)(void *); // set by the plugin
} serialize_args;
typedef struct {
	size_t size; void *extensions, *executable;
	int64_t code, arguments, outputs, aliases, temporary; // bytes in the device's memory; for the CPU, in main memory
	int64_t rest[16]; // room for fields of later versions, since a plugin refuses a struct that is too short
} memory_args;
typedef struct { size_t size; void *extensions, *object; } destroy_args;

// Positions of functions in the table, from 0.
enum {
	ERROR_DESTROY = 0, COMPILE = 20, EXECUTABLE_DESTROY = 40, SERIALIZE = 49, GET_EXECUTABLE = 51, LOAD = 56,
	MEMORY = 96
};

extern void *revgnnCompile(compile_args *args);

// interpose loads the plugin at path, stores its table in *original, and returns a copy in which the Go function
// revgnnCompile replaces the plugin's compile function; NULL if the plugin cannot be loaded, or does not fit the
// declarations in this file. Both tables stay in memory until the process ends.
static inline api *interpose(const char *path, api **original) {
	void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	api *(*get)(void) = library ? (api *(*)(void))dlsym(library, "GetPjrtApi") : NULL;
	api *table = get ? get() : NULL, *copy;
	const size_t least = sizeof(api) + (MEMORY + 1) * sizeof(void *);
	if (!table || table->version.major != 0 || table->size < least) return NULL;
	if (!(copy = malloc(table->size))) return NULL;
	memcpy(copy, table, table->size);
	copy->functions[COMPILE] = (void *)revgnnCompile;
	*original = table;
	return copy;
}

// call calls the function at a position of the plugin's table, and returns its error, or NULL.
static inline void *call(api *a, int function, void *args) { return ((void *(*)(void *))a->functions[function])(args); }

// destroy frees an error or a program by the plugin's function at a position.
static inline void destroy(api *a, int function, void *object) {
	destroy_args args = {sizeof args, NULL, object};
	call(a, function, &args);
}

// done returns 1 if error is NULL, else it frees the error and returns 0.
static inline int done(api *a, void *error) {
	if (error) destroy(a, ERROR_DESTROY, error);
	return !error;
}

// compile calls the plugin's own compile function with other options, and returns its error, or NULL.
static inline void *compile(api *a, compile_args *args, char *options, size_t size) {
	char *given = args->options;
	size_t given_size = args->options_size;
	args->options = options, args->options_size = size;
	void *error = call(a, COMPILE, args);
	args->options = given, args->options_size = given_size;
	return error;
}

// load makes a program from bytes of serialize, and stores it in to->executable; 0 if the plugin refuses the bytes.
static inline int load(api *a, compile_args *to, char *bytes, size_t size) {
	load_args args = {sizeof args, NULL, to->client, bytes, size, NULL, NULL, 0};
	if (!done(a, call(a, LOAD, &args))) return 0;
	to->executable = args.executable;
	return 1;
}

// Compiling returns a loaded executable, which contains an executable. ask calls a function that takes the latter, the
// third field of args. It returns 1, or 0 if there was an error.
static inline int ask(api *a, int function, void *loaded, void *args) {
	executable_args get = {sizeof get, NULL, loaded, NULL};
	if (!done(a, call(a, GET_EXECUTABLE, &get))) return 0;
	((executable_args *)args)->loaded = get.executable;
	void *error = call(a, function, args);
	destroy(a, EXECUTABLE_DESTROY, get.executable);
	return done(a, error);
}

// serialize stores a program's bytes in *to, for the caller to free by release; measure stores the memory of a run.
// They return 1, or 0 if they fail.
static inline int serialize(api *a, void *loaded, serialize_args *to) {
	*to = (serialize_args){sizeof *to};
	return ask(a, SERIALIZE, loaded, to);
}
static inline int measure(api *a, void *loaded, memory_args *to) {
	*to = (memory_args){sizeof *to};
	return ask(a, MEMORY, loaded, to);
}

static inline void release(serialize_args *a) { if (a->release) a->release(a->backing); }
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/gomlx/go-xla/pjrt"
)

// plugin is the CPU plugin that [interpose] has loaded: its own functions, what a program depends on beside graph and
// options, and revgnn's compiler options.
var plugin struct {
	api     *C.api
	machine []byte
	options []byte
}

// interpose loads the CPU plugin and makes go-xla call [revgnnCompile] for the plugin's compile function, since go-xla
// v0.4.5 can neither keep programs nor set compiler options. If it returns false, programs are compiled each time, by
// default options, and their memory is unknown.
func interpose(name, path string, threads int) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	c := C.CString(path)
	defer C.free(unsafe.Pointer(c))
	var original *C.api
	table := C.interpose(c, &original)
	if table == nil {
		return false
	}
	flags := os.Getenv("XLA_FLAGS")
	plugin.api, plugin.options = original, compileOptions(flags)
	// A kept program is used only if none of these has changed: plugin file, PJRT version, processor's instructions,
	// threads, options, XLA_FLAGS.
	plugin.machine = fmt.Appendf(nil, "%s %d %d %d.%d %s %d %v %s", path, info.Size(), info.ModTime().UnixNano(),
		original.version.major, original.version.minor, processor(), threads, cpuOptions, flags)
	return pjrt.RegisterPreloadedPlugin(name, uintptr(unsafe.Pointer(table))) == nil
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

// revgnnCompile takes the place of PJRT_Client_Compile: it loads the kept program, or compiles with revgnn's options
// added and keeps it, and stores the memory of a run in [measured]. It runs on go-xla's thread.
//
//export revgnnCompile
func revgnnCompile(args *C.compile_args) unsafe.Pointer {
	text := func(p *C.char, size C.size_t) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(p)), size) }
	options := append(text(args.options, args.options_size)[:args.options_size:args.options_size], plugin.options...)
	dir, p := programsDir(), args.program
	name := programName(plugin.machine, text(p.format, p.format_size), text(p.code, p.code_size), options)
	if !loadProgram(args, dir.load(name)) {
		c := C.CBytes(options)
		defer C.free(c)
		if err := C.compile(plugin.api, args, (*C.char)(c), C.size_t(len(options))); err != nil {
			return err
		}
		var out C.serialize_args
		if dir != "" && C.serialize(plugin.api, args.executable, &out) == 1 {
			dir.store(name, text(out.bytes, out.bytes_size), maxPrograms)
			C.release(&out)
		}
	}
	var m C.memory_args
	if C.measure(plugin.api, args.executable, &m) == 1 {
		measured.Store(syscall.Gettid(), &Memory{Arguments: int64(m.arguments), Outputs: int64(m.outputs),
			Aliased: int64(m.aliases), Temporary: int64(m.temporary), Code: int64(m.code)})
	}
	return nil
}

// loadProgram makes a program from kept bytes; false if there are none, or if the plugin refuses them.
func loadProgram(args *C.compile_args, kept []byte) bool {
	if kept == nil {
		return false
	}
	c := C.CBytes(kept)
	defer C.free(c)
	return C.load(plugin.api, args, (*C.char)(c), C.size_t(len(kept))) == 1
}

// measured has the memory of programs by the number of the thread that has just compiled them, for [measure].
var measured sync.Map

// measure calls compile, and returns the memory of a run of what it compiled, or nil.
func measure(compile func() error) (*Memory, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread := syscall.Gettid()
	measured.Delete(thread)
	err := compile()
	m, _ := measured.LoadAndDelete(thread)
	memory, _ := m.(*Memory)
	return memory, err
}
