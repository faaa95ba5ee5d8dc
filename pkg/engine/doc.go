// Package engine chooses and opens an engine, and says which engine was chosen and why. An engine is what compiles and
// runs computation graphs of GoMLX; GoMLX's word for it is backend. There are three engines: XLA on an NVIDIA GPU, XLA
// on the CPU, and pure Go, which needs no download and is some fifty times slower. XLA comes as a plugin: a library
// with the C interface PJRT, which this package uses through the Go module go-xla.
//
// A program is a compiled computation graph. On Linux, the engine for XLA on the CPU stores each program in a folder.
// If the same graph has to be compiled again later, also in another process, the engine loads the program instead,
// since this is faster. The programs in this folder are called kept programs.
//
// The backend of each engine is wrapped in a backend of the type nested (nested.go). On a nested backend, loops may
// contain loops, and faults of GoMLX and of the engines are worked around. A closure is a function inside another
// function of a computation graph; the condition and the body of a loop are closures.
//
// The package leaves settings of the process as they are: the memory allocator, the environment and signals. There are
// three exceptions, which are environment variables. When go-xla is imported, it sets TF_CPP_MIN_LOG_LEVEL to 3 if this
// variable is unset. When go-xla opens a CUDA plugin, it sets XLA_FLAGS. While this package opens the CPU plugin, it
// sets NPROC, from which the plugin reads its number of threads. (Package host has settings that a program may change
// for its own process.) Options for XLA's compiler are passed with each graph that is compiled.
package engine
