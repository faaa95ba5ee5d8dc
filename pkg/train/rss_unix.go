//go:build unix

package train

import (
	"runtime"
	"syscall"
)

// peakRSS is the largest resident memory of the process so far, in bytes; 0 if unknown.
func peakRSS() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" { // the value is in bytes on macOS, in KiB elsewhere
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) * 1024
}
