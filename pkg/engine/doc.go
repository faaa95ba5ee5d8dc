// Package engine chooses and opens an engine, which compiles and runs GoMLX's computation graphs (a backend, in GoMLX's
// word), and says which and why: XLA on an NVIDIA GPU, XLA on the CPU, both through plugins with the C interface PJRT,
// or pure Go, which needs no download and is some fifty times slower.
//
// On Linux, XLA's compiled programs are kept in a folder and loaded when the same graph is compiled again, also by
// later processes. Each backend is wrapped (nested.go), to work around faults of GoMLX and of the engines.
//
// The package handles no signals. Of the environment, NPROC is set while the CPU plugin is opened, which reads its
// number of threads from it; importing go-xla sets TF_CPP_MIN_LOG_LEVEL to 3 if unset, and opening CUDA sets XLA_FLAGS.
// Options for XLA's compiler are passed with each graph.
package engine
