//go:build unix

package train

import (
	"runtime"
	"syscall"

	"github.com/revgnn/revgnn/pkg/machine"
)

// peakRSS returns the largest amount of main memory that the process has used at one time, in bytes. It returns 0 if
// this amount is not known. Linux is asked for it in two ways. The second one, getrusage, is for other systems: on
// Linux its answer may be that of the process that started this one, since it outlives exec.
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
