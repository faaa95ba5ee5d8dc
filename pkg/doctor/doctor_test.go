package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
)

func TestExamine(t *testing.T) {
	dir := t.TempDir()
	if r := Examine("go", datasets.Options{Dir: dir}); r.Engine != "go" || r.Error != "" || r.Data != dir ||
		len(r.Datasets) != 1 || r.Cores < 1 {
		t.Errorf("got %+v", r)
	}
	if r := Examine("abacus", datasets.Options{Dir: dir}); r.Engine != "" || r.Error == "" || r.Cores < 1 {
		t.Errorf("got %+v", r)
	}
}

func TestAbsent(t *testing.T) {
	dir := t.TempDir()
	info, err := datasets.Info("minesweeper")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, info.Files[0].Name)
	says := func(name, want string) {
		t.Helper()
		if why := Absent(name, dir); !strings.HasPrefix(why, want) || want == "" && why != "" {
			t.Errorf("%s is %q, want %q", name, why, want)
		}
	}
	says("minesweeper", "not here")
	for size, want := range map[int64]string{1: "damaged (minesweeper.npz has 1 bytes", info.Files[0].Bytes: ""} {
		if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
		says("minesweeper", want)
	}
	says("zzz", "not known")
}

func TestKernelOfTheCheckout(t *testing.T) {
	dir := t.TempDir()
	spec := filepath.Join(dir, ".venv", "share", "jupyter", "kernels", "gonb", "kernel.json")
	below := filepath.Join(dir, "a", "b")
	for _, d := range []string{filepath.Dir(spec), below} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(spec, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	if got, err := filepath.EvalSymlinks(kernel()); err != nil || filepath.Base(filepath.Dir(got)) != "gonb" {
		t.Errorf("found %q, %v", got, err)
	}
}
