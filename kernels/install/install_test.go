package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// checkout makes a folder that stands for a checkout of revgnn. It has the template of the kernel spec, and a file with
// other content in place of the library ECharts.
func checkout(t *testing.T) *installer {
	t.Helper()
	project := t.TempDir()
	template, err := os.ReadFile("../kernel.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"kernels/kernel.json": template, echarts.File: []byte("library")} {
		file := filepath.Join(project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	venv := filepath.Join(project, ".venv")
	return &installer{project: project, venv: venv, share: filepath.Join(venv, "share", "revgnn"), goroot: "/opt/go"}
}

func TestKernel(t *testing.T) {
	p := checkout(t)
	dir, err := p.kernel(map[string]string{"A": "1", "B": "2"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Argv []string
		Env  map[string]string
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		t.Fatal(err)
	}
	if spec.Argv[0] != filepath.Join(p.venv, "bin", "gonb") || spec.Argv[len(spec.Argv)-1] != "-go_work="+p.project {
		t.Errorf("argv is %q", spec.Argv)
	}
	for name, want := range map[string]string{"GOPROXY": "off", "GOFLAGS": "-ldflags=-w", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=2",
		"A": "1", "B": "2",
		"PATH": p.venv + "/bin:/opt/go/bin:${PATH}"} {
		if spec.Env[name] != want {
			t.Errorf("%s is %q, want %q", name, spec.Env[name], want)
		}
	}
	if copied, err := os.ReadFile(filepath.Join(dir, "echarts.min.js")); err != nil || string(copied) != "library" {
		t.Errorf("the library beside the spec: %q, %v", copied, err)
	}
	if _, err := p.kernel(map[string]string{"GLIBC_TUNABLES": ""}); err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(filepath.Join(dir, "kernel.json")); err != nil {
		t.Fatal(err)
	}
	spec.Env = nil
	if err := json.Unmarshal(text, &spec); err != nil || spec.Env["GLIBC_TUNABLES"] != "" {
		t.Errorf("GLIBC_TUNABLES is %q, %v; want it switched off", spec.Env["GLIBC_TUNABLES"], err)
	}
	if _, err := p.kernel(map[string]string{"A": `"`}); err == nil || !strings.Contains(err.Error(), "quotes") {
		t.Errorf("a quote in a variable: %v, want an error that says so", err)
	}
}

func TestOnce(t *testing.T) {
	p := checkout(t)
	product := filepath.Join(p.project, "product")
	count := 0
	step := func(key string) {
		t.Helper()
		err := p.once("thing", key, product, func() error {
			count++
			return os.WriteFile(product, nil, 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		key    string
		remove bool
		want   int
	}{{"v1", false, 1}, {"v1", false, 1}, {"v2", false, 2}, {"v2", true, 3}} {
		if c.remove {
			os.Remove(product)
		}
		if step(c.key); count != c.want {
			t.Errorf("after %+v it ran %d times", c, count)
		}
	}
}

func TestMember(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{"package/a.js": "one", "package/b.js": "two"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	z.Close()
	if got, err := member(b.Bytes(), "package/b.js"); err != nil || string(got) != "two" {
		t.Errorf("member = %q, %v", got, err)
	}
	if _, err := member(b.Bytes(), "package/c.js"); err == nil || !strings.Contains(err.Error(), "c.js") {
		t.Errorf("a file that is not there: %v, want an error that names it", err)
	}
}

func TestFindPython(t *testing.T) {
	t.Setenv("PYTHON", filepath.Join(t.TempDir(), "none"))
	if _, err := findPython(); err == nil || !strings.Contains(err.Error(), "3.10") {
		t.Errorf("no Python: %v, want an error that names the version", err)
	}
	fake := filepath.Join(t.TempDir(), "python")
	for want, script := range map[string]string{
		"older than Python 3.10": "#!/bin/sh\nexit 1\n",
		"lacks the venv module":  "#!/bin/sh\ncase \"$2\" in *venv*) exit 1;; esac\n",
	} {
		if err := os.WriteFile(fake, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PYTHON", fake)
		if _, err := findPython(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error that says %q", err, want)
		}
	}
}
