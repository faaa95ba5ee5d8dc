package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/go-xla/pjrt"
)

// TestDamagedPlugins checks that a plugin is not loaded if its file is truncated or is no library at all, and that
// errors name the file. The pure-Go engine can be chosen nevertheless. The file of this test program serves as a
// complete plugin, since programs and libraries have the same format.
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
			_, err := Choose(name)
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
