package engine

import (
	"errors"
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
func installCUDA(dir string) error {
	if !HasGPU() {
		return errors.New("this machine has no NVIDIA GPU")
	}
	kind := "cuda13"
	if driver := driverVersion(); driver > 0 && driver < leastDriverCUDA13 {
		kind = "cuda12"
	}
	return installer.CudaInstall(kind, "latest", dir, true, installer.Quiet)
}

// driverVersion is the major version of NVIDIA's kernel driver, 0 if unknown.
func driverVersion() int {
	b, _ := os.ReadFile("/proc/driver/nvidia/version")
	return parseDriver(string(b))
}

// parseDriver reads the major version from the content of /proc/driver/nvidia/version, 0 if there is none.
func parseDriver(text string) int {
	found := regexp.MustCompile(`Kernel Module\D*(?:x86_64)?\s+(\d+)\.`).FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}
