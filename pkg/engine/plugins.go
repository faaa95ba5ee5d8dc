package engine

import (
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

// Plugins maps "cpu" and "cuda" to the paths of the XLA plugins that are installed. The map is empty if any plugin is
// damaged.
func Plugins() map[string]string {
	out, _ := installed()
	return out
}

// Damaged returns an error that names a plugin which is damaged, and nil if none is.
func Damaged() error {
	_, err := installed()
	return err
}

// installed does the same as [Plugins], but also returns an error if a plugin is damaged. If one is damaged, installed
// does not let go-xla search for plugins. In its search, go-xla loads all plugins that it finds, and loading a
// truncated file would end the process.
func installed() (map[string]string, error) {
	out := map[string]string{}
	if err := damagedPlugin(); err != nil {
		return out, err
	}
	found, err := loadable()
	if err != nil {
		return out, err
	}
	for name, path := range found {
		kind := strings.ToLower(name)
		switch {
		case kind == "cpu" && interposed.Load() != nil:
			path = *interposed.Load()
		case strings.HasPrefix(kind, "cpu"):
			kind = "cpu"
		case pjrt.IsCUDAName(kind):
			kind = "cuda"
		default:
			continue
		}
		out[kind] = path
	}
	return out, nil
}

// loadable returns the names and paths of the plugins that go-xla can load. If the operating system refuses to load a
// plugin, go-xla (v0.4.5) logs the reason and panics. loadable turns this panic into an error.
func loadable() (found map[string]string, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("a plugin in %s cannot be loaded (see the line before): see that there is memory for it, or "+
				"remove it and run 'revgnn install-plugin'", searched())
		}
	}()
	return pjrt.AvailablePlugins(), nil
}

// damagedPlugin checks all files with a plugin's name in the folders that [pluginFolders] returns. If one of these
// files is not a complete library, damagedPlugin returns an error that names the file.
func damagedPlugin() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	dirs, _ := pluginFolders()
	for _, dir := range dirs {
		for _, pattern := range []string{"pjrt-plugin-*.so", "pjrt_plugin_*.so", "pjrt_c_api_*_plugin.so"} {
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

// wholeLibrary returns an error if the file at path is not a complete library in ELF, the format of libraries on Linux.
// A complete file has all bytes of its segments, which are the parts that are loaded into memory. It also has its table
// of sections, which is usually at the end of the file. elf.NewFile reads this table, and fails if it is cut short.
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

// PluginDir is the folder in the user's home directory in which plugins are installed. go-xla looks for plugins there.
func PluginDir() (string, error) {
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

// pluginFolders returns folders in which go-xla looks for plugins. If the environment variable PJRT_PLUGIN_LIBRARY_PATH
// is set, go-xla looks in the folders that it lists, and in no others. pluginFolders then returns these folders, and
// the second result is true. Otherwise it returns [PluginDir] and /usr/local/lib/go-xla, each with its subfolder
// nvidia, in which go-xla's installer puts the CUDA plugin. The second result is then false: go-xla also looks in other
// folders, such as the system's library folders.
func pluginFolders() (dirs []string, only bool) {
	if paths, ok := os.LookupEnv(pjrt.PJRTPluginPathsEnv); ok {
		return slices.DeleteFunc(strings.Split(paths, ":"), func(dir string) bool { return dir == "" }), true
	}
	roots := []string{"/usr/local/lib/go-xla"}
	if dir, err := PluginDir(); err == nil {
		roots = append([]string{dir}, roots...)
	}
	for _, root := range roots {
		dirs = append(dirs, root, filepath.Join(root, "nvidia"))
	}
	return dirs, false
}

// searched returns a text that lists the folders in which go-xla looks for plugins.
func searched() string {
	dirs, only := pluginFolders()
	if !only {
		dirs = append(dirs, "the system's library folders")
	}
	return strings.Join(dirs, ", ")
}
