// Package engine picks and opens the backend that GoMLX graphs run on, and says which and why: XLA on an NVIDIA GPU or on
// the CPU, through a PJRT plugin and go-xla (the successor of gopjrt), or the pure-Go backend, which needs no download and
// is some fifty times slower.
package engine
