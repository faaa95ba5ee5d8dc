// Package engine chooses and opens the backend that GoMLX graphs run on, and says which one and why: XLA on an NVIDIA
// GPU or on the CPU, through a PJRT plugin and go-xla (the successor of gopjrt), or the pure-Go backend, which needs
// no download and is some fifty times slower.
//
// It changes nothing process-wide: neither the allocator, nor the environment, nor signals. (go-xla itself sets
// TF_CPP_MIN_LOG_LEVEL to 3 when it is imported, if it is unset, and XLA_FLAGS when it opens a CUDA plugin. The CPU
// plugin reads its number of threads from NPROC, which is set only while the plugin is opened.) Settings that a
// program may choose for its own process are in package host; options of XLA's compiler are passed with each program
// that is compiled.
package engine
