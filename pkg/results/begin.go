package results

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Begin is the record of a run that starts now, on this machine, by this programme.
func Begin(kind string) Record {
	versions, commit := built()
	return Record{Kind: kind, Split: NoSplit, Versions: versions, Commit: commit, Machine: machine(),
		Started: time.Now().UTC()}
}

// Versions are those of all that a result depends on, by name: of Go, of the modules that compute, and of revgnn,
// which is its commit where that is known.
func Versions() map[string]string {
	versions, commit := built()
	if commit != "" {
		versions["revgnn"] = commit
	}
	return versions
}

// modules whose versions are recorded, by the names they get: those that compute.
var modules = map[string]string{
	"github.com/gomlx/gomlx":   "gomlx",
	"github.com/gomlx/compute": "compute",
	"github.com/gomlx/go-xla":  "go-xla",
}

// Commit that the programme was built from, as make tells the linker: a hash, with "-dirty" where files were changed.
var Commit string

// built reads what the Go tool wrote into the programme, the commit too where make did not tell it: go build does so
// in a checkout, with -buildvcs.
func built() (versions map[string]string, commit string) {
	versions = map[string]string{"go": runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return versions, ""
	}
	if info.Main.Version != "" {
		versions["revgnn"] = info.Main.Version
	}
	for _, m := range info.Deps {
		if name := modules[m.Path]; name != "" {
			versions[name] = m.Version
			if m.Replace != nil {
				versions[name] = m.Replace.Path + " " + m.Replace.Version
			}
		}
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if commit != "" && dirty {
		commit += "-dirty"
	}
	if Commit != "" {
		commit = Commit
	}
	return versions, commit
}

func machine() Machine {
	return Machine{Platform: runtime.GOOS + "/" + runtime.GOARCH, CPU: cpuModel(), GPU: gpuModel(),
		Cores: runtime.NumCPU()}
}

// gpuModel is what the NVIDIA driver says on Linux of the first device.
func gpuModel() string {
	found, _ := filepath.Glob("/proc/driver/nvidia/gpus/*/information")
	if len(found) == 0 {
		return ""
	}
	return field(found[0], "Model")
}

// field reads the value of the first line "name: value" of a file; empty where there is none.
func field(path, name string) string {
	b, _ := os.ReadFile(path) // no file, no value
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
