package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/go-xla/pjrt"
)

// TestDamagedPlugins checks that a truncated plugin is not used, and that errors name its file. The pure-Go engine must
// still be available. In place of a plugin, the test truncates the file of the test program itself: on Linux, programs
// and libraries have the same format.
func TestDamagedPlugins(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := wholeLibrary(program); err != nil {
		t.Errorf("a whole program: %v", err)
	}
	whole, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "pjrt_c_api_cpu_plugin.so")
	t.Setenv(pjrt.PJRTPluginPathsEnv, dir)
	t.Setenv(Variable, "")
	for _, content := range [][]byte{nil, whole[:9], whole[:len(whole)/2], whole[:len(whole)-1]} {
		if err := os.WriteFile(path, content, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"": "no engine can be chosen", CPU: "cannot be opened", Go: ""} {
			_, _, err := Choose(name)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) ||
				!strings.Contains(err.Error(), path+" is damaged")) {
				t.Errorf("%d bytes, engine %q: %v", len(content), name, err)
			}
		}
		if found := Plugins(); len(found) > 0 {
			t.Errorf("%d bytes: found %v", len(content), found)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", path); err != nil {
		t.Fatal(err)
	}
	if err := damagedPlugin(); err != nil {
		t.Errorf("a link to nowhere: %v", err)
	}
}
