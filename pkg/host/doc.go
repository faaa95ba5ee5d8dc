// Package host holds settings that a program may choose for its own process but no library may: package engine, and
// everything built on it, does not change the C library, the environment or the signals of the process. Only commands
// import this package: cmd/revgnn calls [Tune] and [Interruptible], and the notebook kernel's spec has [Tunables] in
// its environment.
package host
