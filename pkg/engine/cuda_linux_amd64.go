package engine

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/pkg/machine"
)

// toolkit is a plugin for CUDA with the libraries of NVIDIA that it loads, as wheels of PyPI with their checksums.
type toolkit struct {
	name string
	lock string // a file of requirements, made by `make lock`
	// bytes is what the wheels have together, and driver the least major version of NVIDIA's driver (CUDA Toolkit
	// release notes, "CUDA Toolkit and Minimum Required Driver Version for CUDA Minor Version Compatibility").
	bytes  int64
	driver int
}

//go:embed cuda12.lock
var cuda12Lock string

//go:embed cuda13.lock
var cuda13Lock string

var toolkits = []toolkit{
	{"cuda13", cuda13Lock, 2_485_097_438, 580},
	{"cuda12", cuda12Lock, 3_197_230_420, 525},
}

// toolkitFor is that of a name, or for "cuda" the newest that the machine's driver suits.
func toolkitFor(kind, version string) (*toolkit, error) {
	for i := range toolkits {
		if toolkits[i].name == kind {
			return &toolkits[i], nil
		}
	}
	driver := parseDriver(version)
	if driver == 0 {
		return nil, errors.New("NVIDIA's driver was not found (/proc/driver/nvidia/version): install it, or for another " +
			"machine name cuda12 or cuda13")
	}
	for i := range toolkits {
		if driver >= toolkits[i].driver {
			return &toolkits[i], nil
		}
	}
	return nil, fmt.Errorf("NVIDIA's driver %d is too old: CUDA 12 needs %d, CUDA 13 needs %d", driver,
		toolkits[1].driver, toolkits[0].driver)
}

// installCUDA has pip put a plugin and NVIDIA's libraries into dir/cuda, as pip lays them out, which is how the plugin
// finds them. An installation that fails leaves nothing.
func installCUDA(ctx context.Context, kind, dir string, log func(string)) error {
	k, err := toolkitFor(kind, machine.GPUDriver())
	if err != nil {
		return err
	}
	log(fmt.Sprintf("%s: %d wheels, %.1f GB to download, some %.0f GB on the disk", k.name,
		strings.Count(k.lock, "=="), float64(k.bytes)/1e9, 2*float64(k.bytes)/1e9))
	temporary, err := os.MkdirTemp(dir, ".cuda-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	lock, target := filepath.Join(temporary, "requirements.txt"), filepath.Join(temporary, "site")
	if err := os.WriteFile(lock, []byte(k.lock), 0o644); err != nil {
		return err
	}
	if err := pip(ctx, "install", "--no-deps", "--no-compile", "--no-cache-dir", "--require-hashes", "--only-binary=:all:",
		"--target", target, "-r", lock); err != nil {
		return err
	}
	at, old := filepath.Join(dir, "cuda"), filepath.Join(temporary, "old")
	if err := os.Rename(at, old); err != nil && !errors.Is(err, fs.ErrNotExist) { // of another version
		return err
	}
	if err := os.Rename(target, at); err != nil {
		os.Rename(old, at)
		return err
	}
	return nil
}

// parseDriver reads the major version of NVIDIA's kernel driver from what it says of itself, 0 if there is none.
func parseDriver(text string) int {
	found := regexp.MustCompile(`Kernel Module\D*(?:x86_64)?\s+(\d+)\.`).FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}
