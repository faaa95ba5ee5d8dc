// Package host holds the settings that a program may choose for its own process, and that no library may: package
// engine and all that is built on it leave the C library, the environment and the signals of their process as they
// are. Only commands import this package; cmd/revgnn calls [Tune] and [Interruptible], and the notebook kernel has
// [Tunables] in the environment of its spec.
package host
