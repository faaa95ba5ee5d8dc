// Package doctor reports what a machine has installed for revgnn.
package doctor

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/machine"
)

// Report is the result of [Examine]. What is missing is empty, 0, or null in JSON.
type Report struct {
	// Engine is the engine that would be used, and Why the reason. Plugin is the path of its plugin, empty for the
	// pure-Go engine. Version is the plugin's own description.
	Engine  string `json:"engine"`
	Why     string `json:"why"`
	Plugin  string `json:"plugin"`
	Version string `json:"version"`
	// Plugins are the paths of the installed plugins, by "cpu" and "cuda".
	Plugins map[string]string `json:"plugins"`
	// Data is the folder of datasets. Datasets are the names of those datasets whose files are all in it.
	Data     string   `json:"data"`
	Datasets []string `json:"datasets"`
	// Kernel is the path of the kernel.json that Jupyter would use for Go notebooks.
	Kernel string `json:"kernel"`
	GPU    bool   `json:"gpu"`
	Cores  int    `json:"cores"`
	// Threads is the number of threads that the engine computes on; 0 if results do not depend on it.
	Threads int `json:"threads,omitempty"`
	// Memory is the memory of the machine or of the container, and FreeMemory is what is free of it, in bytes; 0 if
	// unknown.
	Memory     int64  `json:"memory_bytes"`
	FreeMemory int64  `json:"free_memory_bytes"`
	Platform   string `json:"platform"`
	Go         string `json:"go"`
	// Error says why no engine can be used; empty if all is well.
	Error string `json:"error,omitempty"`
}

// Examine opens the engine with the given name (the empty name chooses one) and examines the machine. If no engine
// works, the report says why.
func Examine(engineName string, data datasets.Options) *Report {
	r := &Report{Plugins: engine.Plugins(), Datasets: []string{}, Kernel: kernel(), GPU: engine.HasGPU(),
		Cores: runtime.NumCPU(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	r.Memory, r.FreeMemory = machine.Memory()
	if e, err := engine.Open(engineName); err != nil {
		r.Error = err.Error()
	} else {
		r.Engine, r.Why, r.Plugin, r.Version, r.Threads = e.Name, e.Why, e.Plugin, e.Version, e.Threads
	}
	dir, err := datasets.Dir(data.Dir)
	if err != nil && r.Error == "" {
		r.Error = err.Error()
	}
	r.Data = dir
	for _, name := range datasets.Names() {
		if Present(name, dir) {
			r.Datasets = append(r.Datasets, name)
		}
	}
	return r
}

// Present tells whether a folder has those files of a dataset that all models need. It compares only the sizes of
// files. Generated datasets need no files.
func Present(name, dir string) bool {
	info, err := datasets.Info(name)
	if err != nil {
		return false
	}
	for _, f := range info.Files {
		if found, err := os.Stat(filepath.Join(dir, f.Name)); err != nil || found.Size() != f.Bytes {
			return false
		}
	}
	return true
}

// kernel returns the path of the kernel.json of the Go kernel. It looks into the .venv of this checkout, from the
// working directory upwards, then into Jupyter's folders of the user and of the machine (jupyter_core, "Common
// Directories and File Locations").
func kernel() string {
	var dirs []string
	if wd, err := os.Getwd(); err == nil {
		for {
			dirs = append(dirs, filepath.Join(wd, ".venv", "share", "jupyter"))
			parent := filepath.Dir(wd)
			if parent == wd {
				break
			}
			wd = parent
		}
	}
	dirs = append(dirs, filepath.SplitList(os.Getenv("JUPYTER_PATH"))...)
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	if home, err := os.UserHomeDir(); err == nil {
		if data := os.Getenv("XDG_DATA_HOME"); data != "" {
			dirs = append(dirs, filepath.Join(data, "jupyter"))
		}
		dirs = append(dirs, filepath.Join(home, ".local", "share", "jupyter"),
			filepath.Join(home, "Library", "Jupyter"))
	}
	if venv := os.Getenv("VIRTUAL_ENV"); venv != "" {
		dirs = append(dirs, filepath.Join(venv, "share", "jupyter"))
	}
	dirs = append(dirs, "/usr/local/share/jupyter", "/usr/share/jupyter", "/opt/conda/share/jupyter")
	for _, dir := range dirs {
		for _, name := range []string{"revgnn", "gonb"} {
			spec := filepath.Join(dir, "kernels", name, "kernel.json")
			if _, err := os.Stat(spec); err == nil {
				return spec
			}
		}
	}
	return ""
}
