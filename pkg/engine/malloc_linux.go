//go:build linux && cgo

package engine

// Have glibc's malloc use one arena, before any thread makes its own. XLA's compiler threads would otherwise leave some 50 MB
// scattered over one arena each, by chance more or less; the one is not contended once a program runs. And have it keep what is
// freed, up to 1 GiB: a program's working memory would otherwise be handed back after every step, and be asked for and cleared,
// page by page, in the next. (Compilers' memory is handed back by malloc_trim.) Other C libraries have no mallopt and are left
// alone.

// extern int mallopt(int, int) __attribute__((weak));
// __attribute__((constructor)) static void settings(void) {
//   if (!mallopt) return;
//   mallopt(-8 /* M_ARENA_MAX */, 1);
//   mallopt(-3 /* M_MMAP_THRESHOLD */, 1 << 30);
//   mallopt(-1 /* M_TRIM_THRESHOLD */, 1 << 30);
// }
import "C"
