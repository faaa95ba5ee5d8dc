package host

import (
	"os"
	"strings"
)

// Allocator is the environment variable that chooses the memory allocator's settings: [System], [Keep], or anything
// else for [Tunables].
const Allocator = "REVGNN_ALLOCATOR"

// System leaves the C library's settings unchanged. Keep uses [KeepTunables], by which a program's working memory is
// kept from step to step instead of being cleared each time: a few percent faster, for up to 250 MB more.
const System, Keep = "system", "keep"

// Tunables are settings of glibc's malloc (sourceware.org/glibc/manual, "Memory Allocation Tunables") that suit XLA on
// the CPU; docs/notes/2026-11-compiler.md has what they gain. glibc reads them from the environment variable
// GLIBC_TUNABLES when a process starts.
//
// XLA allocates a program's working memory, often 100 MB, anew in every run. With hugetlb=1 the kernel gives it in
// pages of 2 MiB instead of 4 KiB, where /sys/kernel/mm/transparent_hugepage/enabled says "madvise" (glibc 2.35 and
// newer; others ignore it). With arena_max=2, the many threads of XLA's compiler do not leave some 50 MB in an arena
// each; with a single arena, threads that run a program would wait for each other.
const Tunables = "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=2"

// KeepTunables are [Tunables] that also keep freed blocks of up to 1 GiB. They use a single arena, since glibc's
// further arenas cannot hold blocks of more than 64 MiB.
const KeepTunables = "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1:" +
	"glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=1073741824"

// variable is the environment variable from which glibc reads its settings.
const variable = "GLIBC_TUNABLES"

// Tune applies the allocator settings that [Allocator] chooses; call it first in main. As glibc reads them only when a
// process starts, Tune starts the program again, in the same process and with the same arguments, and does not return
// then. In the restarted program it removes the settings from the environment, which child processes inherit, and
// returns. It changes nothing where [Allocator] is "system", where GLIBC_TUNABLES has settings of malloc already, and
// where the C library is not glibc. An error says that the program could not be restarted; it works nevertheless, a
// little slower.
func Tune() error {
	given, set := os.LookupEnv(variable)
	choice, settings := os.Getenv(Allocator), Tunables
	if choice == Keep {
		settings = KeepTunables
	}
	if rest, ours := strings.CutSuffix(given, settings); ours {
		return restore(strings.TrimSuffix(rest, ":"))
	}
	if !glibc || choice == System || strings.Contains(given, "glibc.malloc.") {
		return nil
	}
	if set && given != "" {
		given += ":"
	}
	return restart(variable + "=" + given + settings)
}

// restore resets the variable to its value before the restart.
func restore(before string) error {
	if before == "" {
		return os.Unsetenv(variable)
	}
	return os.Setenv(variable, before)
}

// Trim returns freed memory to the system (malloc_trim), unless [Allocator] is "system". Call it after XLA's compiler
// has run. Otherwise the process would keep the compiler's memory while the compiled program needs memory of its own:
//
//	engine.AfterCompile(host.Trim)
func Trim() {
	if os.Getenv(Allocator) != System {
		trim()
	}
}
