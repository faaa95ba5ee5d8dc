// Package engine chooses and opens an engine, and says which engine was chosen and why. An engine compiles and runs the
// computation graphs of GoMLX; GoMLX's word for an engine is backend. There are three engines: XLA on an NVIDIA GPU,
// XLA on the CPU, and pure Go, which needs no download and is some fifty times slower. XLA comes as a plugin. A plugin
// is a library with the C interface PJRT. This package uses plugins through the Go module go-xla.
//
// A program is a compiled computation graph. On Linux, the engine for XLA on the CPU stores each program in a folder.
// If the same graph has to be compiled again, also in a later process, the engine loads the program from the folder.
// This is faster than compiling. The programs in the folder are called kept programs.
//
// This package wraps the backend of each engine in a backend of the type nested (nested.go). A nested backend passes
// calls on to the wrapped backend, and works around faults of GoMLX and of the engines. On a nested backend, a loop may
// contain another loop. A computation graph consists of functions. A function inside another function is called a
// closure. For example, the condition and the body of a loop are closures.
//
// This package handles no signals. Of the environment, only three variables are set. When go-xla is imported,
// it sets TF_CPP_MIN_LOG_LEVEL to 3 if this variable is unset. When go-xla opens a CUDA plugin, it sets XLA_FLAGS.
// While this package opens the CPU plugin, it sets NPROC, from which the plugin reads its number of threads. Options
// for XLA's compiler need no variable: they are passed with each graph.
package engine
