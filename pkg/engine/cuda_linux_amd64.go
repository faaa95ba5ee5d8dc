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

// installCUDA calls go-xla's installer, which installs XLA's CUDA plugin in the folder nvidia inside dir. The installer
// downloads wheels (Python package files) from PyPI, and verifies each of them by the checksum that PyPI states. The
// plugin is in the wheel jax-cuda13-pjrt. For drivers that cannot run CUDA 13, it is in the wheel jax-cuda12-pjrt.
// Other wheels contain NVIDIA's libraries, which the plugin needs (cuBLAS, cuDNN, NCCL and others, some 2 GB).
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

// driverVersion returns the major version of NVIDIA's kernel driver, or 0 if the version is not known.
func driverVersion() int {
	b, _ := os.ReadFile("/proc/driver/nvidia/version")
	return parseDriver(string(b))
}

// parseDriver returns the major version of NVIDIA's kernel driver. The argument is the content of the file
// /proc/driver/nvidia/version. If this text states no version, parseDriver returns 0.
func parseDriver(text string) int {
	found := regexp.MustCompile(`Kernel Module\D*(?:x86_64)?\s+(\d+)\.`).FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}
