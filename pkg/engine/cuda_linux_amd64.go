package engine

import (
	"errors"
	"os"
	"regexp"
	"strconv"

	"github.com/gomlx/go-xla/installer"
)

// leastDriverCUDA13 is the least major version of NVIDIA's driver that runs CUDA 13 (CUDA Toolkit 13 release notes,
// table of driver versions).
const leastDriverCUDA13 = 580

// installCUDA runs go-xla's installer. The installer takes the plugin from a wheel (a Python package file):
// jax-cuda13-pjrt, or jax-cuda12-pjrt for older drivers. The plugin also needs NVIDIA's libraries (cuBLAS, cuDNN, NCCL
// and others, some 2 GB). The installer takes the libraries that the wheel jax-cuda13-plugin (or jax-cuda12-plugin)
// requires, each from a wheel of its own. All wheels come from PyPI, and are verified by the checksums that PyPI
// states. The libraries are put into the folder nvidia inside dir, where the plugin finds them.
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

// driverVersion is the major version of the NVIDIA kernel driver, or 0 if it is not known.
func driverVersion() int {
	b, _ := os.ReadFile("/proc/driver/nvidia/version")
	return parseDriver(string(b))
}

// parseDriver finds the major version in the content of /proc/driver/nvidia/version, or returns 0.
func parseDriver(text string) int {
	found := regexp.MustCompile(`Kernel Module\D*(?:x86_64)?\s+(\d+)\.`).FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}
