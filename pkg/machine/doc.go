// Package machine tells how much memory the machine has, how much of it this process may use and uses, and how much
// memory of the GPU is free. On Linux, control groups (cgroups) limit the memory of containers and of schedulers' jobs.
package machine

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// GPUMemory returns the free memory of the first NVIDIA GPU in CUDA_VISIBLE_DEVICES, or of the first one, as nvidia-smi
// tells it, in bytes; 0 if it is not known.
func GPUMemory() int64 {
	args := []string{"--query-gpu=memory.free", "--format=csv,noheader,nounits"}
	if first, _, _ := strings.Cut(os.Getenv("CUDA_VISIBLE_DEVICES"), ","); first != "" {
		args = append(args, "--id="+first) // nvidia-smi does not read the variable itself
	}
	out, err := exec.Command("nvidia-smi", args...).Output()
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	mib, _ := strconv.ParseInt(strings.TrimSpace(first), 10, 64)
	return mib << 20
}
