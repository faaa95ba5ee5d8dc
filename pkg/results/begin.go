package results

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Begin returns the record of a run that starts now, on this machine, by this version of revgnn.
func Begin(kind string) Record {
	_, commit := built()
	return Record{Kind: kind, Split: NoSplit, Versions: Versions(), Commit: commit, Machine: machine(),
		Started: time.Now().UTC()}
}

func machine() Machine {
	return Machine{Platform: runtime.GOOS + "/" + runtime.GOARCH, CPU: cpuModel(), GPU: gpuModel(),
		Cores: runtime.NumCPU()}
}

// gpuModel returns the product name of the first NVIDIA GPU. On Linux, NVIDIA's driver provides a file with this name.
// If there is no file, gpuModel returns an empty text.
func gpuModel() string {
	found, _ := filepath.Glob("/proc/driver/nvidia/gpus/*/information")
	if len(found) == 0 {
		return ""
	}
	return field(found[0], "Model")
}

// field reads a file with lines of the form "name: value". It returns the value of the first line with the given name,
// or an empty text if no line has this name.
func field(path, name string) string {
	b, _ := os.ReadFile(path) // if there is no file, b is empty
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
