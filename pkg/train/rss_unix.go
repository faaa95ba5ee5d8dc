//go:build unix

package train

import (
	"runtime"
	"syscall"
)

// peakRSS returns the largest amount of main memory that the process has used at one time, in bytes. It returns 0 if
// this amount is not known.
func peakRSS() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" { // Maxrss is in bytes on macOS, and in KiB elsewhere.
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) * 1024
}
