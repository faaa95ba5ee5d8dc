package host

import (
	"os"
	"strings"
)

// Allocator is the name of the environment variable that chooses the settings of the memory allocator. Its value may be
// [System] or [Keep]. Any other value, or none, chooses [Tunables].
const Allocator = "REVGNN_ALLOCATOR"

// System and Keep are values of the environment variable that [Allocator] names. System leaves the C library's settings
// unchanged. Keep chooses [KeepTunables], with which the process keeps a compiled program's working memory from one
// training step to the next. The operating system then does not have to clear new memory in each step. This is a few
// percent faster, and takes up to 250 MB more memory.
const System, Keep = "system", "keep"

// Tunables are settings of glibc's memory allocator (sourceware.org/glibc/manual, "Memory Allocation Tunables") that
// suit XLA on the CPU. docs/notes/2026-11-compiler.md has measurements. glibc reads the settings from the environment
// variable GLIBC_TUNABLES when a process starts.
//
// hugetlb=1 is for the working memory of compiled programs, often 100 MB, which XLA allocates anew in every run. With
// this setting, the operating system provides the memory in pages of 2 MiB instead of 4 KiB, which takes less time. It
// does so if "madvise" is selected in the file /sys/kernel/mm/transparent_hugepage/enabled. (The setting needs glibc
// 2.35 or newer; older versions ignore it.)
//
// arena_max=2 makes all threads take memory from two arenas (the allocator's pools of memory). Otherwise, each of the
// many threads of XLA's compiler would leave some 50 MB in an arena of its own. With a single arena, threads that run a
// program would wait for each other.
const Tunables = "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=2"

// KeepTunables are settings like [Tunables], with which the process also keeps freed blocks of memory of up to 1 GiB
// for later use. The memory allocator has only one arena (pool of memory) with these settings. The reason is that only
// glibc's first arena can hold blocks of more than 64 MiB.
const KeepTunables = "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1:" +
	"glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=1073741824"

// variable is the name of the environment variable from which glibc reads its settings.
const variable = "GLIBC_TUNABLES"

// Tune applies the allocator settings that the environment variable [Allocator] chooses. It must be called at the start
// of main. glibc reads the settings only when a process starts. So Tune adds them to the environment and starts the
// program again, in the same process and with the same arguments. In the program that was started again, Tune only
// removes the settings from the environment, since child processes would otherwise get them, too.
//
// Tune changes nothing if [Allocator] is set to "system", if GLIBC_TUNABLES already has settings of malloc, or if the C
// library is not glibc. Tune returns an error if the program could not be started again. The program can go on in this
// case, but is a little slower.
func Tune() error {
	given, set := os.LookupEnv(variable)
	choice, settings := os.Getenv(Allocator), Tunables
	if !glibc || choice == System {
		return nil
	}
	if choice == Keep {
		settings = KeepTunables
	}
	if rest, ours := strings.CutSuffix(given, settings); ours {
		return restore(strings.TrimSuffix(rest, ":"))
	}
	if strings.Contains(given, "glibc.malloc.") {
		return nil
	}
	if set && given != "" {
		given += ":"
	}
	return restart(variable + "=" + given + settings)
}

// restore sets the environment variable GLIBC_TUNABLES to the given value, which it had before [Tune] started the
// program again. If the value is empty, restore removes the variable.
func restore(before string) error {
	if before == "" {
		return os.Unsetenv(variable)
	}
	return os.Setenv(variable, before)
}

// Trim returns freed memory to the operating system (by malloc_trim), unless [Allocator] is set to "system". Call Trim
// after XLA's compiler has run. Otherwise the process would keep the memory that the compiler has freed, in addition to
// the memory of the compiled program. Package engine can call Trim after each compilation:
//
//	engine.AfterCompile(host.Trim)
func Trim() {
	if os.Getenv(Allocator) != System {
		trim()
	}
}
