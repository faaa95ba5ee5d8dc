// Package machine tells how much memory a machine and its GPU have.
package machine

import (
	"os/exec"
	"strconv"
	"strings"
)

// GPUMemory returns the free memory in bytes of the first NVIDIA GPU, by nvidia-smi; 0 where that is not known.
func GPUMemory() int64 {
	out, err := exec.Command("nvidia-smi", "--query-gpu=memory.free", "--format=csv,noheader,nounits").Output()
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	mib, _ := strconv.ParseInt(strings.TrimSpace(first), 10, 64)
	return mib << 20
}
