//go:build linux && cgo

package engine

// Have glibc's malloc use one arena, before any thread makes its own. XLA's compiler threads would otherwise leave some 50 MB
// scattered over one arena each, by chance more or less; the one is not contended once a program runs. Other C libraries have
// no mallopt and are left alone.

// extern int mallopt(int, int) __attribute__((weak));
// __attribute__((constructor)) static void one_arena(void) { if (mallopt) mallopt(-8 /* M_ARENA_MAX */, 1); }
import "C"
