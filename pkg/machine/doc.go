// Package machine tells how much memory the machine has, how much of this memory this process may use, and how much
// this process uses. It also tells how much memory of the GPU is free.
//
// On Linux, each process belongs to a control group (cgroup), which is a set of processes. A control group may have a
// limit on the memory that its processes use together. Containers and the jobs of schedulers are limited in this way.
package machine

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// GPUMemory returns the free memory of the first NVIDIA GPU in bytes, as the command nvidia-smi reports it, or 0 if it
// is not known. The first GPU is the first one that the environment variable CUDA_VISIBLE_DEVICES names, if it is set.
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
