// Command guest uses revgnn as a library: it trains, and then prints settings of its process as JSON. TestGuest in
// package engine checks that the library leaves them as they are.
package main

/*
#cgo LDFLAGS: -ldl -lpthread
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// owner is the path of the library, or the program, that has the C function of a name, or "".
static const char *owner(const char *name) {
	Dl_info info;
	void *function = dlsym(RTLD_DEFAULT, name);
	return function && dladdr(function, &info) ? info.dli_fname : "";
}

static pthread_barrier_t all;

static void *allocate(void *unused) {
	void *block = malloc(1000);
	pthread_barrier_wait(&all); // All threads hold a block now, for which malloc has made arenas (areas of memory).
	free(block);
	return NULL;
}

// arenas lets so many threads allocate memory at the same time, and returns the number of malloc's arenas, areas of
// memory for one or more threads.
static int arenas(int threads) {
	pthread_t thread[threads];
	pthread_barrier_init(&all, NULL, threads);
	for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, allocate, NULL);
	for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	malloc_info(0, stream);
	fclose(stream);
	int found = 0;
	for (char *at = text; (at = strstr(at, "<heap nr=")); at++) found++;
	free(text);
	return found;
}
*/
import "C"

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"unsafe"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/train"
)

// Report is what the program prints for the test.
type Report struct {
	// Owners maps the name of each C function given on the command line to the file that contains this function.
	Owners map[string]string
	// Environment is that after the training.
	Environment []string
	// Arenas is the number of malloc's, after 8 threads have allocated memory at the same time.
	Arenas int
	Loss   float64 // the last
}

func main() {
	e, err := engine.Open("")
	if err != nil {
		log.Fatal(err)
	}
	g, err := datasets.Minesweeper{Rows: 20, Cols: 20, Mines: 0.2, Unknown: 0.3, Seed: 1}.Graph()
	if err != nil {
		log.Fatal(err)
	}
	c := train.Default("gcn+rep")
	c.Hidden, c.Forward, c.Reverse, c.Epochs = 8, 1, 2, 3
	b, err := train.Bench(context.Background(), e, g, c, nil)
	if err != nil {
		log.Fatal(err)
	}
	r := Report{Owners: map[string]string{}, Environment: os.Environ(), Arenas: int(C.arenas(8)),
		Loss: float64(b.Loss)}
	for _, name := range os.Args[1:] {
		c := C.CString(name)
		r.Owners[name] = C.GoString(C.owner(c))
		C.free(unsafe.Pointer(c))
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		log.Fatal(err)
	}
}
