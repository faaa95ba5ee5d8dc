//go:build linux && cgo

package engine

// The part of the PJRT C API (openxla/xla, xla/pjrt/c/pjrt_c_api.h) that compiling and keeping programs takes. Its table of
// functions only ever grows at the end within a major version, and its arguments carry their sizes.

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct { size_t size; void *extensions; struct { size_t size; void *extensions; int major, minor; } version; void *functions[]; } api;
typedef struct { size_t size; void *extensions; char *code; size_t code_size; char *format; size_t format_size; } program;
typedef struct { size_t size; void *extensions; void *client; program *program; char *options; size_t options_size; void *executable; } compile_args;
typedef struct { size_t size; void *extensions; void *client; char *bytes; size_t bytes_size; void *executable; char *options; size_t options_size; } load_args;
typedef struct { size_t size; void *extensions; void *loaded, *executable; } executable_args;
typedef struct { size_t size; void *extensions; void *executable; char *bytes; size_t bytes_size; void *backing; void (*release)(void *); } serialize_args;
typedef struct { size_t size; void *extensions; void *object; } destroy_args;

enum { ERROR_DESTROY = 0, COMPILE = 20, EXECUTABLE_DESTROY = 40, SERIALIZE = 49, GET_EXECUTABLE = 51, LOAD = 56 };

extern void *revgnnCompile(compile_args *args);

// interpose returns a copy of a plugin's table whose compile function is ours, and the table in original; NULL if the plugin is
// of a kind not known here. Both stay for as long as the process.
static inline api *interpose(const char *path, api **original) {
	void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	api *(*get)(void) = library ? (api *(*)(void))dlsym(library, "GetPjrtApi") : NULL;
	api *table = get ? get() : NULL, *copy;
	if (!table || table->version.major != 0 || table->size < sizeof(api) + (LOAD + 1) * sizeof(void *)) return NULL;
	if (!(copy = malloc(table->size))) return NULL;
	memcpy(copy, table, table->size);
	copy->functions[COMPILE] = (void *)revgnnCompile;
	*original = table;
	return copy;
}

// call runs a function of the table; it returns an error, or NULL.
static inline void *call(api *a, int function, void *args) { return ((void *(*)(void *))a->functions[function])(args); }

// destroy frees an error or an executable.
static inline void destroy(api *a, int function, void *object) {
	destroy_args args = {sizeof args, NULL, object};
	call(a, function, &args);
}

// load makes an executable from the bytes of one: 1, or 0 where the plugin refuses them.
static inline int load(api *a, compile_args *to, char *bytes, size_t size) {
	load_args args = {sizeof args, NULL, to->client, bytes, size, NULL, NULL, 0};
	void *error = call(a, LOAD, &args);
	if (error) return destroy(a, ERROR_DESTROY, error), 0;
	to->executable = args.executable;
	return 1;
}

// serialize turns an executable into bytes, to be released: 1, or 0 where the plugin cannot.
static inline int serialize(api *a, void *loaded, serialize_args *to) {
	executable_args get = {sizeof get, NULL, loaded, NULL};
	void *error = call(a, GET_EXECUTABLE, &get);
	if (error) return destroy(a, ERROR_DESTROY, error), 0;
	*to = (serialize_args){sizeof *to, NULL, get.executable};
	error = call(a, SERIALIZE, to);
	destroy(a, EXECUTABLE_DESTROY, get.executable);
	if (error) return destroy(a, ERROR_DESTROY, error), 0;
	return 1;
}

static inline void release(serialize_args *a) { if (a->release) a->release(a->backing); }

// trim gives the memory that compiling took and freed back to the system, where the C library is glibc.
extern int malloc_trim(size_t) __attribute__((weak));
static inline void trim(void) { if (malloc_trim) malloc_trim(0); }
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"github.com/gomlx/go-xla/pjrt"
)

// plugin is the interposed one, of the CPU, and machine what its programs depend on beside their text.
var plugin struct {
	api     *C.api
	machine []byte
}

// keepPrograms has go-xla (v0.4.5, which has no call to save or load compiled programs) use the CPU plugin at path through a
// table of functions of which the one that compiles looks into the folder of compiled programs first. It tells whether it
// could; if not, programs are compiled each time.
func keepPrograms(name, path string) bool {
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
	plugin.api = original
	// XLA lays programs out for the processor's instructions and for the number of its cores and of its own threads.
	plugin.machine = fmt.Appendf(nil, "%s %d %d %d.%d %s %d %v %s", path, info.Size(), info.ModTime().UnixNano(), original.version.major,
		original.version.minor, processor(), runtime.NumCPU(), cpuOptions, os.Getenv("XLA_FLAGS"))
	return pjrt.RegisterPreloadedPlugin(name, uintptr(unsafe.Pointer(table))) == nil
}

// processor describes the instructions that the processor has.
func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "flags") || strings.HasPrefix(line, "Features") {
			return line
		}
	}
	return runtime.GOARCH
}

//export revgnnCompile
func revgnnCompile(args *C.compile_args) unsafe.Pointer {
	text := func(p *C.char, size C.size_t) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(p)), size) }
	dir, p := programsDir(), args.program
	name := programName(plugin.machine, text(p.format, p.format_size), text(p.code, p.code_size), text(args.options, args.options_size))
	if b := dir.load(name); b != nil {
		c := C.CBytes(b)
		defer C.free(c)
		if C.load(plugin.api, args, (*C.char)(c), C.size_t(len(b))) == 1 {
			return nil
		}
	}
	giveBack()
	defer C.trim()
	if err := C.call(plugin.api, C.COMPILE, unsafe.Pointer(args)); err != nil || dir == "" {
		return err
	}
	var out C.serialize_args
	if C.serialize(plugin.api, args.executable, &out) == 1 {
		dir.store(name, text(out.bytes, out.bytes_size), maxPrograms)
		C.release(&out)
	}
	return nil
}
