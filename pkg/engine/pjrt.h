// A part of PJRT, the C interface of XLA's plugins (openxla/xla, xla/pjrt/c/pjrt_c_api.h): the functions that compile,
// save and load programs, and tell how much memory they take. A plugin has a table of pointers to its functions. Each
// takes a pointer to a struct of arguments, which begins with its own size. The declarations fit all plugins with major
// version 0: later minor versions only add entries at the ends of the table and of the structs.

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
typedef struct { size_t size; void *extensions; void *options; size_t option_count; } create_args; // of a client; its head
typedef struct { size_t size; void *extensions, *error; const char *text; size_t text_size; } message_args;
typedef struct {
	size_t size; void *extensions;
	const char *name; size_t name_size; int kind; // a string has kind 0
	const char *value; size_t value_size;
} named_value;
typedef struct {
	size_t size; void *extensions;
	const char *name; size_t name_size;
	named_value *options; size_t option_count;
	void *topology; // set by the plugin
} topology_args;
typedef struct {
	size_t size; void *extensions, *topology;
	program *program;
	char *options; size_t options_size;
	void *client, *executable; // set by the plugin: executable
} describe_args;

// Positions of functions in the table, from 0.
enum {
	ERROR_DESTROY = 0, ERROR_MESSAGE = 1, INITIALIZE = 3, CREATE_CLIENT = 10, COMPILE = 20, EXECUTABLE_DESTROY = 40,
	SERIALIZE = 49, GET_EXECUTABLE = 51, LOAD = 56, CREATE_TOPOLOGY = 82, COMPILE_DESCRIBED = 89, MEMORY = 96
};

// open_plugin returns the table of the plugin at path; NULL if it cannot be loaded, or does not fit the declarations in this
// file.
static inline api *open_plugin(const char *path) {
	void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	api *(*get)(void) = library ? (api *(*)(void))dlsym(library, "GetPjrtApi") : NULL;
	api *table = get ? get() : NULL;
	const size_t least = sizeof(api) + (MEMORY + 1) * sizeof(void *);
	return table && table->version.major == 0 && table->size >= least ? table : NULL;
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
