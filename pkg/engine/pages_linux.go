//go:build linux && cgo

package engine

// A program's working memory is one block, which XLA asks the C library for anew in every step: 25 000 pages of 4 KiB for the kernel
// to find and clear, for 100 MB. Large blocks are advised to be of huge pages, which Linux needs where
// /sys/kernel/mm/transparent_hugepage/enabled says "madvise", as most distributions have it. The plugin finds this function before
// the C library's of the same name, which it calls.

/*
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

static void advise(void *block, size_t size) {
	const uintptr_t page = (uintptr_t)2 << 20;
	if (size < 4 * page) return;
	uintptr_t from = ((uintptr_t)block + page - 1) & ~(page - 1), to = ((uintptr_t)block + size) & ~(page - 1);
	int before = errno;
	madvise((void *)from, to - from, MADV_HUGEPAGE); // as before where the kernel has none
	errno = before;
}

__attribute__((visibility("default"), used))
int posix_memalign(void **block, size_t alignment, size_t size) {
	static int (*next)(void **, size_t, size_t);
	if (!next) next = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
	if (!next) return ENOMEM;
	int failed = next(block, alignment, size);
	if (!failed) advise(*block, size);
	return failed;
}
*/
import "C"
