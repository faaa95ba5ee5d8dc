package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
)

func TestDoctorExamines(t *testing.T) {
	dir := t.TempDir()
	if r := examine("go", datasets.Options{Dir: dir}); r.Engine != "go" || r.Error != "" || r.Data != dir ||
		len(r.Datasets) != 1 || r.Cores < 1 {
		t.Errorf("got %+v", r)
	}
	if r := examine("abacus", datasets.Options{Dir: dir}); r.Engine != "" || r.Error == "" || r.Cores < 1 {
		t.Errorf("got %+v", r)
	}
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
