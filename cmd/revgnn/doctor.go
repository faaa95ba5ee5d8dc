package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/machine"
)

// diagnosis is the JSON document of doctor. What is not known is empty or 0.
type diagnosis struct {
	Revgnn string `json:"revgnn"`
	// Engine would be used, for the reason Why. Plugin is the path of its XLA plugin, and Version says which that is.
	Engine  string `json:"engine"`
	Why     string `json:"why"`
	Plugin  string `json:"plugin"`
	Version string `json:"version"`
	// Plugins has the paths of the installed XLA plugins, under "cpu" and "cuda".
	Plugins map[string]string `json:"plugins"`
	// Datasets are those whose files are all in the folder Data.
	Data     string   `json:"data"`
	Datasets []string `json:"datasets"`
	Kernel   string   `json:"kernel"`
	GPU      bool     `json:"gpu"`
	// Of the first GPU: its name, NVIDIA's driver, and its free memory.
	GPUName       string `json:"gpu_name,omitempty"`
	GPUDriver     string `json:"gpu_driver,omitempty"`
	GPUFreeMemory int64  `json:"gpu_free_memory_bytes,omitempty"`
	Cores         int    `json:"cores"`
	// Threads is 0 for engines whose results do not depend on their number.
	Threads int `json:"threads,omitempty"`
	// Of the machine or of the container.
	Memory     int64  `json:"memory_bytes"`
	FreeMemory int64  `json:"free_memory_bytes"`
	Platform   string `json:"platform"`
	Go         string `json:"go"`
	// Error says why the engine cannot be used, or why the folder of datasets is not known.
	Error string `json:"error,omitempty"`
}

func examine(engineName string, data datasets.Options) *diagnosis {
	d := &diagnosis{Revgnn: versionText(), Plugins: engine.Plugins(), Datasets: []string{}, Kernel: kernel(),
		GPU: engine.HasGPU(), Cores: machine.Cores(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Go: runtime.Version()}
	d.Memory, d.FreeMemory = machine.Memory()
	if d.GPU {
		d.GPUName, d.GPUDriver, d.GPUFreeMemory = machine.GPU(), machine.GPUDriver(), machine.GPUMemory()
	}
	e, err := engine.Open(engineName)
	if err == nil {
		d.Engine, d.Why, d.Plugin, d.Version, d.Threads = e.Name, e.Why, e.Plugin, e.Version, e.Threads
	}
	dir, noDir := datasets.Dir(data.Dir)
	if err = cmp.Or(err, noDir); err != nil {
		d.Error = err.Error()
	}
	d.Data = dir
	for _, name := range datasets.Names() {
		if datasets.Absent(name, dir) == "" {
			d.Datasets = append(d.Datasets, name)
		}
	}
	return d
}

// kernel returns the path of kernel.json of Jupyter's Go kernel, or "". It looks in the folders .venv of the working
// directory and of those above, and then where Jupyter looks (its documentation: "Common Directories and File
// Locations").
func kernel() string {
	var dirs []string
	for dir, _ := os.Getwd(); dir != ""; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir+"/.venv/share/jupyter")
		if dir == filepath.Dir(dir) {
			break
		}
	}
	dirs = append(dirs, filepath.SplitList(os.Getenv("JUPYTER_PATH"))...)
	home, _ := os.UserHomeDir()
	for _, place := range [][2]string{{os.Getenv("JUPYTER_DATA_DIR"), ""}, {os.Getenv("XDG_DATA_HOME"), "jupyter"},
		{home, ".local/share/jupyter"}, {home, "Library/Jupyter"}, {os.Getenv("VIRTUAL_ENV"), "share/jupyter"},
		{"/usr/local/share/jupyter", ""}, {"/usr/share/jupyter", ""}, {"/opt/conda/share/jupyter", ""}} {
		if place[0] != "" {
			dirs = append(dirs, filepath.Join(place[0], place[1]))
		}
	}
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

func (a *app) doctor() *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Say what this machine has: engine, data, kernel, GPU, memory",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			d := examine(a.engineName, a.data)
			err := a.show(d, d.table)
			if err == nil && d.Error != "" {
				err = errors.New(d.Error)
			}
			return err
		}}
}

func (d *diagnosis) table(w io.Writer) {
	gpu := "none"
	if d.GPU {
		gpu = fmt.Sprintf("%s, %s free; driver: %s", cmp.Or(d.GPUName, "NVIDIA"), machine.Bytes(d.GPUFreeMemory),
			cmp.Or(d.GPUDriver, "not known"))
	}
	var plugins []string
	for _, kind := range slices.Sorted(maps.Keys(d.Plugins)) {
		plugins = append(plugins, kind+": "+d.Plugins[kind])
	}
	pairs(w, [][2]string{
		{"revgnn", d.Revgnn},
		{"engine", cmp.Or(d.Engine, "none")},
		{"  why", cmp.Or(d.Why, d.Error)},
		{"  plugin", cmp.Or(d.Plugin, "none needed")},
		{"  version", cmp.Or(d.Version, "-")},
		{"plugins", cmp.Or(strings.Join(plugins, ", "), "none; 'revgnn install-plugin' installs one")},
		{"data directory", d.Data},
		{"datasets there", cmp.Or(strings.Join(d.Datasets, ", "), "none")},
		{"notebook kernel", cmp.Or(d.Kernel, "none; 'make lab' installs it")},
		{"GPU", gpu},
		{"cores", fmt.Sprint(d.Cores)},
		{"threads", cmp.Or(strings.TrimPrefix(fmt.Sprint(d.Threads), "0"), "as the engine likes; they change no number")},
		{"memory", fmt.Sprintf("%s, %s free", machine.Bytes(d.Memory), machine.Bytes(d.FreeMemory))},
		{"platform", d.Platform + ", " + d.Go},
	})
}

type installedVersion struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			v := installedVersion{versionText(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return a.show(v, func(w io.Writer) { fmt.Fprint(w, versionLine()) })
		}}
}

// versionLine is what `revgnn version` and `revgnn --version` print.
func versionLine() string {
	return fmt.Sprintf("revgnn %s (%s, %s/%s)\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (a *app) installPlugin() *cobra.Command {
	return &cobra.Command{Use: "install-plugin [cpu|cuda|cuda12|cuda13]",
		Short: "Install the XLA plugin that computes fast on this CPU (the default) or on an NVIDIA GPU",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && !slices.Contains(engine.Kinds, args[0]) {
				return usagef("unknown plugin %q: choose one of %s", strings.Join(args, " "), strings.Join(engine.Kinds, ", "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			kind := cmp.Or(strings.Join(args, ""), "cpu")
			if a.data.Offline && engine.Plugins()[kind] == "" {
				return cmp.Or(engine.Damaged(), fmt.Errorf("the %s plugin is not installed and offline mode forbids the "+
					"download; go online, or copy it into a folder named by PJRT_PLUGIN_LIBRARY_PATH", kind))
			}
			p := a.progress()
			path, err := engine.Install(c.Context(), kind, func(line string) { p.line("%s", line) })
			if err != nil {
				return err
			}
			return a.show(map[string]string{"plugin": kind, "path": path}, func(w io.Writer) { fmt.Fprintln(w, path) })
		}}
}
