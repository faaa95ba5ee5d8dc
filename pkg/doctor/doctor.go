// Package doctor reports what a machine has installed for revgnn.
package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/machine"
)

// Report is the result of [Examine]. A field is empty or 0 if there is nothing to report.
type Report struct {
	// Engine is the name of the engine that would be used, such as "xla:cpu". Why says why this engine was chosen.
	// Plugin is the path of the engine's XLA plugin, and Version describes the plugin and its version in a line of
	// text. Plugin and Version are empty for the pure-Go engine.
	Engine  string `json:"engine"`
	Why     string `json:"why"`
	Plugin  string `json:"plugin"`
	Version string `json:"version"`
	// Plugins has the paths of the installed XLA plugins, under the keys "cpu" and "cuda".
	Plugins map[string]string `json:"plugins"`
	// Data is the folder of datasets. Datasets has the names of those datasets whose files are all in this folder.
	Data     string   `json:"data"`
	Datasets []string `json:"datasets"`
	// Kernel is the path of the file kernel.json, which tells Jupyter how to start the kernel of Go notebooks.
	Kernel string `json:"kernel"`
	GPU    bool   `json:"gpu"`
	Cores  int    `json:"cores"`
	// Threads is the number of threads that the engine computes on. It is 0 for engines whose results do not depend on
	// the number of threads.
	Threads int `json:"threads,omitempty"`
	// Memory is the memory of the machine or of the container in bytes, and FreeMemory is the free part of this memory.
	// Both are 0 if they are not known.
	Memory     int64  `json:"memory_bytes"`
	FreeMemory int64  `json:"free_memory_bytes"`
	Platform   string `json:"platform"`
	Go         string `json:"go"`
	// Error says why the engine cannot be used, or why the folder of datasets is not known. It is empty if there is no
	// error.
	Error string `json:"error,omitempty"`
}

// Examine opens the engine with the given name, and examines the machine. If the name is empty, [engine.Open] chooses
// the engine. If the engine cannot be opened, the report says why.
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
		if Absent(name, dir) == "" {
			r.Datasets = append(r.Datasets, name)
		}
	}
	return r
}

// Absent says in a few words why the dataset with the given name cannot be used from the folder dir: "not here" if a
// file is missing, or that a file is damaged. It names the first problem only. The result is "" if nothing is wrong.
// Absent checks that each file has the right size, but does not read the file. It does not look for the file with the
// directions of the edges, since most models do not need this file. For a generated dataset, which needs no files, the
// result is "".
func Absent(name, dir string) (why string) {
	info, err := datasets.Info(name)
	if err != nil {
		return "not known"
	}
	for _, f := range info.Files {
		found, err := os.Stat(filepath.Join(dir, f.Name))
		switch {
		case err != nil:
			return "not here"
		case found.Size() != f.Bytes:
			return fmt.Sprintf("damaged (%s has %d bytes instead of %d; `revgnn datasets get %s` replaces it)", f.Name,
				found.Size(), f.Bytes, name)
		}
	}
	return ""
}

// kernel returns the path of the file kernel.json of Jupyter's Go kernel, or "" if there is none. It looks first in the
// folders .venv of the working directory and of the folders above. Then it looks in the folders where Jupyter looks for
// kernels (see "Common Directories and File Locations" in Jupyter's documentation).
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
