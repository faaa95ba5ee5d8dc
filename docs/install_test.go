package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// TestInstall installs revgnn by `go install github.com/revgnn/revgnn/cmd/revgnn@VERSION`, and checks that the
// installed program knows its version. The Go tool gets the committed files from a local folder, which replaces the
// module proxy on the web.
func TestInstall(t *testing.T) {
	if os.Getenv("REVGNN_TEST_DOCS") == "" {
		t.Skip("REVGNN_TEST_DOCS is not 1: the command is not installed anew, which takes a minute")
	}
	const version = "v0.1.0"
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "-C", checkout, "rev-parse", "HEAD").CombinedOutput(); err != nil {
		t.Skipf("no git checkout to install from: %s", out)
	}
	proxy := t.TempDir()
	files := filepath.Join(proxy, "github.com", "revgnn", "revgnn", "@v")
	if err := os.MkdirAll(files, 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(files, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("list", version+"\n")
	write(version+".info", fmt.Sprintf(`{"Version": %q, "Time": "2026-11-23T00:00:00Z"}`, version))
	write(version+".mod", read(t, filepath.Join(checkout, "go.mod")))
	archive, err := os.Create(filepath.Join(files, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if err := zip.CreateFromVCS(archive, module.Version{Path: "github.com/revgnn/revgnn", Version: version}, checkout,
		"HEAD", ""); err != nil {
		t.Fatal(err)
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	bin, copies := t.TempDir(), filepath.Join(t.TempDir(), "mod")
	// With -trimpath, what is compiled does not depend on the folder of its source, and need not be compiled again.
	install := exec.CommandContext(t.Context(), "go", "install", "-modcacherw", "-trimpath",
		"github.com/revgnn/revgnn/cmd/revgnn@"+version)
	install.Dir = bin
	install.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=", "GOMODCACHE="+copies, "GONOSUMDB=*", "GOWORK=off",
		"GOPROXY=file://"+proxy+",file://"+strings.TrimSpace(string(cache))+"/cache/download")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(bin, "revgnn"), "--version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "revgnn "+version+" (") {
		t.Errorf("%q, %v", out, err)
	}
}
