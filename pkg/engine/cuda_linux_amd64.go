package engine

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"

	"github.com/gomlx/go-xla/installer"
)

// leastDriverCUDA13 is the least major version of NVIDIA's driver for CUDA 13 (CUDA Toolkit 13 release notes).
const leastDriverCUDA13 = 580

// installCUDA has go-xla's installer put the CUDA plugin into dir/nvidia: wheels of PyPI, verified by the checksums
// that PyPI states: jax-cuda13-pjrt, or jax-cuda12-pjrt for older drivers, and NVIDIA's libraries (cuBLAS, cuDNN, NCCL
// and others, some 2 GB).
func installCUDA(dir string) (err error) {
	defer func() { // of go-xla's installer
		if p := recover(); p != nil {
			err = fmt.Errorf("go-xla's installer failed: %v", p)
		}
	}()
	if !HasGPU() {
		return errors.New("this machine has no NVIDIA GPU")
	}
	kind := "cuda13"
	version, _ := os.ReadFile("/proc/driver/nvidia/version")
	if driver := parseDriver(string(version)); driver > 0 && driver < leastDriverCUDA13 {
		kind = "cuda12"
	}
	return installer.CudaInstall(kind, "latest", dir, true, installer.Quiet)
}

// parseDriver reads the major version of NVIDIA's kernel driver from the content of /proc/driver/nvidia/version, 0 if
// there is none.
func parseDriver(text string) int {
	found := regexp.MustCompile(`Kernel Module\D*(?:x86_64)?\s+(\d+)\.`).FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}
