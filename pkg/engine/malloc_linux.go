//go:build linux && cgo

package engine

// Have glibc's malloc use two arenas, before any thread makes its own. XLA's compiler threads would otherwise leave some 50 MB
// scattered over one arena each, by chance more or less. With a single one, threads that run a program wait for each other:
// after compiling, an epoch took 5 to 10 % longer. Other C libraries have no mallopt and are left alone.

// extern int mallopt(int, int) __attribute__((weak));
// __attribute__((constructor)) static void two_arenas(void) { if (mallopt) mallopt(-8 /* M_ARENA_MAX */, 2); }
import "C"
