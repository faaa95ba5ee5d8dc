//go:build unix

package train

import (
	"runtime"
	"syscall"

	"github.com/revgnn/revgnn/pkg/machine"
)

// peakRSS is the peak of the process's memory in bytes, or 0. On Linux, getrusage may tell that of the process that
// started this one, since it outlives exec.
func peakRSS() int64 {
	if n := machine.PeakResidentSet(); n > 0 {
		return n
	}
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" { // Maxrss is in bytes on macOS, and in KiB elsewhere.
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) * 1024
}
