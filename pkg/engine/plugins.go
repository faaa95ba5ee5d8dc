package engine

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gomlx/go-xla/pjrt"

	"github.com/revgnn/revgnn/pkg/files"
)

// Plugins maps "cpu" and "cuda" to the paths of installed XLA plugins; empty if any is damaged.
func Plugins() map[string]string {
	out, _ := installed()
	return out
}

// preloaded is what go-xla calls the path of a plugin that [interpose] has loaded.
const preloaded = "_preloaded_"

// wheelPlugin is where [Install] puts the CUDA plugin, under the plugins' folder; go-xla does not look there.
const wheelPlugin = "cuda/jax_plugins/xla_cuda1[23]/xla_cuda_plugin.so"

// Damaged returns an error that names a damaged plugin, or nil.
func Damaged() error {
	_, err := installed()
	return err
}

// installed is [Plugins] with an error for a damaged one. go-xla loads all that it finds, and a truncated file would
// end the process; so it does not search then. It panics (v0.4.5) if the system refuses to load a plugin.
func installed() (out map[string]string, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("a plugin in %s cannot be loaded (see the line before): see that there is memory for it, or "+
				"remove it and run 'revgnn install-plugin'", searched())
		}
	}()
	out = map[string]string{}
	if err := damagedPlugin(); err != nil {
		return out, err
	}
	dirs, _ := pluginFolders()
	for _, dir := range dirs {
		if found, _ := filepath.Glob(filepath.Join(dir, wheelPlugin)); len(found) > 0 {
			out["cuda"] = cmp.Or(out["cuda"], found[0])
		}
	}
	for name, path := range pjrt.AvailablePlugins() {
		kind := strings.ToLower(name)
		switch {
		case path == preloaded:
		case strings.HasPrefix(kind, "cpu"):
			out["cpu"] = path
		case pjrt.IsCUDAName(kind):
			out["cuda"] = cmp.Or(out["cuda"], path)
		}
	}
	interposed.Range(func(kind, path any) bool {
		out[kind.(string)] = path.(string)
		return true
	})
	return out, nil
}

// damagedPlugin returns an error for a file in the plugins' folders that is no complete library.
func damagedPlugin() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	dirs, _ := pluginFolders()
	for _, dir := range dirs {
		for _, pattern := range []string{"pjrt-plugin-*.so", "pjrt_plugin_*.so", "pjrt_c_api_*_plugin.so", wheelPlugin} {
			found, _ := filepath.Glob(filepath.Join(dir, pattern))
			for _, path := range found {
				if err := wholeLibrary(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // skip links to nowhere
					return fmt.Errorf("the plugin %s is damaged (%w): remove it and run 'revgnn install-plugin'", path, err)
				}
			}
		}
	}
	return nil
}

// wholeLibrary checks that an ELF file has all bytes of its segments, and its table of sections, which is usually last.
func wholeLibrary(path string) error {
	f, size, err := files.Open(path, "a plugin")
	if err != nil {
		return err
	}
	defer f.Close()
	library, err := elf.NewFile(f)
	if err != nil {
		return fmt.Errorf("it is no library, or cut short: %w", err)
	}
	for _, p := range library.Progs {
		if p.Type == elf.PT_LOAD && p.Off+p.Filesz > uint64(size) {
			return errors.New("it is cut short")
		}
	}
	return nil
}

// pluginDir is the folder in the user's home directory where plugins are installed and go-xla finds them.
func pluginDir() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home directory to install plugins in: %w; "+
			"set HOME, or PJRT_PLUGIN_LIBRARY_PATH to a folder with plugins", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "go-xla"), nil
	}
	return filepath.Join(home, ".local", "lib", "go-xla"), nil
}

// pluginFolders are folders where go-xla looks: those of PJRT_PLUGIN_LIBRARY_PATH and no others (only), or [pluginDir]
// and /usr/local/lib/go-xla with their subfolders nvidia, beside the system's.
func pluginFolders() (dirs []string, only bool) {
	if paths, ok := os.LookupEnv(pjrt.PJRTPluginPathsEnv); ok {
		return slices.DeleteFunc(strings.Split(paths, ":"), func(dir string) bool { return dir == "" }), true
	}
	roots := []string{"/usr/local/lib/go-xla"}
	if dir, err := pluginDir(); err == nil {
		roots = append([]string{dir}, roots...)
	}
	for _, root := range roots {
		dirs = append(dirs, root, filepath.Join(root, "nvidia"))
	}
	return dirs, false
}

func searched() string {
	dirs, only := pluginFolders()
	if !only {
		dirs = append(dirs, "the system's library folders")
	}
	return strings.Join(dirs, ", ")
}
