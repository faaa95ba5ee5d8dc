// Package engine chooses and opens the engine, the GoMLX backend that graphs run on, and says which engine was chosen
// and why. There are three engines: XLA on an NVIDIA GPU, XLA on the CPU, and pure Go, which needs no download and is
// some fifty times slower. XLA comes as a plugin, a library with the interface PJRT, which is used through go-xla (the
// successor of gopjrt).
//
// The package leaves settings of the process as they are: the memory allocator, the environment and signals. There are
// three exceptions in the environment. When go-xla is imported, it sets TF_CPP_MIN_LOG_LEVEL to 3 if it is unset. When
// go-xla opens a CUDA plugin, it sets XLA_FLAGS. While this package opens the CPU plugin, it sets NPROC, from which the
// plugin reads its number of threads. Package host has settings that a program may change for its own process. Options
// for XLA's compiler are passed with each program that is compiled.
package engine
