// Package machine tells how much memory the machine and its GPU have, how much of it this process may use, and how much
// this process uses.
package machine

import (
	"os/exec"
	"strconv"
	"strings"
)

// GPUMemory returns the free memory of the first NVIDIA GPU in bytes, as the command nvidia-smi reports it, or 0 if it
// is not known.
func GPUMemory() int64 {
	out, err := exec.Command("nvidia-smi", "--query-gpu=memory.free", "--format=csv,noheader,nounits").Output()
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	mib, _ := strconv.ParseInt(strings.TrimSpace(first), 10, 64)
	return mib << 20
}
