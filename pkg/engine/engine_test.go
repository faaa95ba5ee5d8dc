package engine

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestOpenByNameAndVariable(t *testing.T) {
	e, err := Open(Go)
	if err != nil {
		t.Fatal(err)
	}
	if e.Name != Go || e.Plugin != "" || e.Why == "" {
		t.Errorf("opened %+v", e)
	}
	t.Setenv(Variable, Go)
	again, err := Open("")
	if err != nil || again != e {
		t.Errorf("the engine named by %s is %v, %v; want the one opened before", Variable, again, err)
	}
}

func TestUnknownEngine(t *testing.T) {
	_, err := Open("tpu")
	if err == nil || !strings.Contains(err.Error(), "xla:cpu") || strings.Contains(err.Error(), "\n") {
		t.Errorf("want one sentence that lists the engines, got %v", err)
	}
	if _, err := Install(context.Background(), "tpu", func(string) {}); err == nil {
		t.Error("an unknown plugin was installed")
	}
}

func TestUnpackChecksTheSumFirst(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(wheelMember)
	if err == nil {
		_, err = w.Write([]byte("a plugin"))
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	sum := func(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
	broken := []byte("PK\x03\x04 cut short")
	for name, c := range map[string]struct {
		wheel             []byte
		member, sum, want string
	}{
		"the right one":        {b.Bytes(), wheelMember, sum(b.Bytes()), ""},
		"another's sum":        {b.Bytes(), wheelMember, wheelSums["linux/amd64"], "has the sha256 " + sum(b.Bytes())},
		"broken":               {broken, wheelMember, sum(broken), "cannot be read"},
		"broken and another's": {broken, wheelMember, sum(b.Bytes()), "is not used"},
		"without the plugin":   {b.Bytes(), "other.so", sum(b.Bytes()), "does not hold other.so"},
	} {
		dir := t.TempDir()
		archive, out := filepath.Join(dir, "a.whl"), filepath.Join(dir, "out")
		if err := os.WriteFile(archive, c.wheel, 0o600); err != nil {
			t.Fatal(err)
		}
		err := unpack(archive, c.member, out, c.sum)
		got, _ := os.ReadFile(out)
		if c.want == "" {
			if err != nil || string(got) != "a plugin" {
				t.Errorf("%s: unpacked %q, %v", name, got, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || got != nil {
			t.Errorf("%s: unpacked %q, %v; want nothing and one sentence with %q", name, got, err, c.want)
		}
	}
}

// TestInstallRefusesAnotherWheel replaces the command python3, which fromWheel calls to download the plugin's wheel (a
// Python package file). A script with the name python3 writes a file with a wrong content in place of the wheel.
// fromWheel must install nothing, and its error must say why.
func TestInstallRefusesAnotherWheel(t *testing.T) {
	if wheelSums[runtime.GOOS+"/"+runtime.GOARCH] == "" {
		t.Skip("no wheel for this platform")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\nfor last; do [ \"$before\" = --dest ] && echo other > \"$last/a.whl\"; before=$last; done\n"
	if err := os.WriteFile(filepath.Join(dir, "python3"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	err := fromWheel(context.Background(), dir)
	if err == nil || !strings.Contains(err.Error(), "is not used") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one sentence that says it is not used", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*plugin*")); left != nil {
		t.Errorf("left %q", left)
	}
}
