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

// gpuModel is the name that NVIDIA's driver gives the first GPU, on Linux; empty if there is none.
func gpuModel() string {
	found, _ := filepath.Glob("/proc/driver/nvidia/gpus/*/information")
	if len(found) == 0 {
		return ""
	}
	return field(found[0], "Model")
}

// field reads the value of the first line "name: value" of a file; empty if there is none.
func field(path, name string) string {
	b, _ := os.ReadFile(path) // without the file, the value is empty
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
