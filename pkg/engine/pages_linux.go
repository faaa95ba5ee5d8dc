//go:build linux && cgo

package engine

// A program's working memory is one block, which XLA asks the C library for anew in every step, and gives back after it: up to
// 25 000 pages of 4 KiB for the kernel to find and clear, for 100 MB. Large blocks are therefore kept when they are freed, for the next
// request of the same size; a request of another size gives all that wait back first, so that no more memory is taken than without.
// And they are advised to be of huge pages, which Linux needs where /sys/kernel/mm/transparent_hugepage/enabled says "madvise", as most
// distributions have it. The plugin finds these functions before the C library's of the same names, which they call.

/*
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef __GLIBC__

extern void __libc_free(void *);
extern void *__libc_realloc(void *, size_t);

enum { places = 16 };
static const size_t least = (size_t)1 << 20; // bytes of the smallest block to keep

// The blocks that are kept or will be, and whether they wait. Only a holder of the lock changes an entry, but free looks for its
// block without: the one that it is given cannot change meanwhile.
static struct { void *_Atomic block; size_t size; int waits; } kept[places];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void advise(void *block, size_t size) {
	const uintptr_t page = (uintptr_t)2 << 20;
	if (size < 4 * page) return;
	uintptr_t from = ((uintptr_t)block + page - 1) & ~(page - 1), to = ((uintptr_t)block + size) & ~(page - 1);
	int before = errno;
	madvise((void *)from, to - from, MADV_HUGEPAGE); // as before where the kernel has none
	errno = before;
}

// place is that of a block, or -1.
static int place(void *block) {
	for (int i = 0; i < places; i++)
		if (kept[i].block == block) return i;
	return -1;
}

// again is a block of that size that waits, or NULL, and then none waits any more.
static void *again(size_t alignment, size_t size) {
	for (int i = 0; i < places; i++) {
		void *block = kept[i].block;
		if (!kept[i].waits || kept[i].size != size || (uintptr_t)block % alignment) continue;
		kept[i].waits = 0;
		return block;
	}
	for (int i = 0; i < places; i++) {
		void *block = kept[i].block;
		if (!kept[i].waits) continue;
		kept[i].waits = 0;
		kept[i].block = NULL;
		__libc_free(block);
	}
	return NULL;
}

__attribute__((visibility("default"), used))
int posix_memalign(void **block, size_t alignment, size_t size) {
	static int (*next)(void **, size_t, size_t);
	if (!next) next = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
	if (!next) return ENOMEM;
	if (size < least) return next(block, alignment, size);
	int failed = 0;
	pthread_mutex_lock(&lock);
	void *old = again(alignment, size);
	if (old) *block = old;
	else if (!(failed = next(block, alignment, size))) {
		advise(*block, size);
		int i = place(NULL);
		if (i >= 0) {
			kept[i].size = size;
			kept[i].block = *block;
		}
	}
	pthread_mutex_unlock(&lock);
	return failed;
}

__attribute__((visibility("default"), used))
void free(void *block) {
	int i = block ? place(block) : -1;
	if (i < 0) {
		__libc_free(block);
		return;
	}
	pthread_mutex_lock(&lock);
	kept[i].waits = 1;
	pthread_mutex_unlock(&lock);
}

// realloc may move the block, which is then no longer one to keep.
__attribute__((visibility("default"), used))
void *realloc(void *block, size_t size) {
	int i = block ? place(block) : -1;
	if (i >= 0) {
		pthread_mutex_lock(&lock);
		kept[i].block = NULL;
		pthread_mutex_unlock(&lock);
	}
	return __libc_realloc(block, size);
}

// give_back frees the blocks that wait.
static void give_back(void) {
	pthread_mutex_lock(&lock);
	again(1, SIZE_MAX);
	pthread_mutex_unlock(&lock);
}

#else

static void give_back(void) {}

#endif
*/
import "C"

// giveBack returns the memory that waits for a program's next step.
func giveBack() { C.give_back() }
