// Package host changes settings of the whole process: of the C library's memory allocator, of the environment, and of
// signals. A program may change them, but a library should leave them to the program that uses it. So package engine,
// and the packages built on it, do not. Only commands import this package: cmd/revgnn calls [Tune] and [Interruptible],
// and the notebook kernel is started with [Tunables] in its environment.
package host
