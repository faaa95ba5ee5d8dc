// Package host changes settings of the whole process: of the C library's memory allocator, of the environment, and of
// signals. A program may change these settings of its own process, but a library should not. So package engine, and the
// packages built on it, leave the settings alone. Package host is for commands and for cells of notebooks. The command
// cmd/revgnn calls [Tune] and [Interruptible], and package live calls [Interruptible] in notebooks. The notebook kernel
// is started with [Tunables] in its environment.
package host
