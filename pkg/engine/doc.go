// Package engine picks and opens the backend that GoMLX graphs run on, and says which and why: XLA on an NVIDIA GPU
// or on the CPU, through a PJRT plugin and go-xla (the successor of gopjrt), or the pure-Go backend, which needs no
// download and is some fifty times slower.
//
// It changes nothing process-wide: neither the allocator, nor the environment, nor signals. (go-xla itself sets
// TF_CPP_MIN_LOG_LEVEL to 3 when it is imported, unless it is set, and XLA_FLAGS when it opens a CUDA plugin; the CPU
// plugin is told its number of threads by NPROC, which is set while it is opened, and then as before.) What a
// program may choose for its own process is in package host; options of XLA's compiler go with each program that is
// compiled.
package engine
