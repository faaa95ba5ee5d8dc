package host

import (
	"os"
	"strings"
)

// Allocator is the environment variable that chooses the memory allocator's settings: [System], [Keep], or anything
// else for [Tunables].
const Allocator = "REVGNN_ALLOCATOR"

// System leaves the C library's settings alone, and Keep takes [KeepTunables]: a program's working memory is kept from
// step to step, and not cleared anew each time, which is faster by a few percent and takes up to 250 MB more.
const System, Keep = "system", "keep"

// Tunables are settings of glibc's malloc (sourceware.org/glibc/manual, "Memory Allocation Tunables") that suit XLA
// on the CPU; what they gain is in docs/notes/2026-11-compiler.md. glibc reads them from the environment variable
// GLIBC_TUNABLES when a process starts.
//
// XLA asks for a program's working memory, often 100 MB, anew in every run. hugetlb=1 has the kernel give it in pages
// of 2 MiB instead of 4 KiB, where /sys/kernel/mm/transparent_hugepage/enabled says "madvise" (glibc 2.35 and newer;
// others ignore it). arena_max=2 keeps the many threads of XLA's compiler from leaving some 50 MB scattered over an
// arena each; with a single arena, threads that run a program wait for each other.
const Tunables = "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=2"

// KeepTunables are [Tunables] with blocks of up to 1 GiB kept when they are freed, in a single arena: the other ones of
// glibc cannot hold blocks of more than 64 MiB.
const KeepTunables = "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1:" +
	"glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=1073741824"

// variable is where glibc reads its settings.
const variable = "GLIBC_TUNABLES"

// Tune gives this process the allocator's settings that [Allocator] chooses, and is to be called first in main. As
// glibc reads them at the start of a process only, Tune starts the program again, in the same process and with the
// same arguments, and does not return then; in the program started again it takes the settings out of the environment,
// which child processes see, and returns. It changes nothing where [Allocator] is "system", where GLIBC_TUNABLES has
// settings of malloc already, and where the C library is not glibc. An error says that the program could not be
// started again: it works as well, and a little slower.
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

// restore gives the variable the value that it had before the program was started again.
func restore(before string) error {
	if before == "" {
		return os.Unsetenv(variable)
	}
	return os.Setenv(variable, before)
}

// Trim gives memory that was freed back to the system (malloc_trim), unless [Allocator] is "system". It is for the
// moment after XLA's compiler has run, whose memory would otherwise stay with the process beside that of the compiled
// program:
//
//	engine.AfterCompile(host.Trim)
func Trim() {
	if os.Getenv(Allocator) != System {
		trim()
	}
}
