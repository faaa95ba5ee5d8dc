//go:build !linux

package machine

import (
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Memory returns the total memory in bytes, on macOS by sysctl. The available memory is not known, and is given as 0.
func Memory() (total, free int64) {
	out, err := exec.Command("sysctl", "-n", "hw.memsize").Output()
	if err != nil {
		return 0, 0
	}
	total, _ = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return total, 0
}

func Cores() int { return runtime.NumCPU() }

// The memory that this process uses is not known here.
func Resident() int64        { return 0 }
func ResidentSet() int64     { return 0 }
func PeakResidentSet() int64 { return 0 }
