// Package pagetest tests pages that tell readers to add code to revgnn: it takes the code out of the page, and builds
// and tests revgnn with it by the go command's -overlay, so that no file of the checkout changes.
package pagetest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

func root(t *testing.T) string {
	t.Helper()
	_, here, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(here) {
		t.Skip("built with -trimpath: the checkout cannot be found, and the page is not tested")
	}
	return filepath.Join(filepath.Dir(here), "../..")
}

type Page struct {
	t    *testing.T
	name string
	text string
}

func Read(t *testing.T, name string) Page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return Page{t, name, string(text)}
}

// Blocks are the page's code blocks in a language that contain a text.
func (p Page) Blocks(language, with string) (found []string) {
	for _, block := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```").FindAllStringSubmatch(p.text, -1) {
		if strings.Contains(block[1], with) {
			found = append(found, block[1])
		}
	}
	return found
}

// Block is the only such block.
func (p Page) Block(language, with string) string {
	p.t.Helper()
	found := p.Blocks(language, with)
	if len(found) != 1 {
		p.t.Fatalf("docs/%s has %d pieces of %s with %q: the test needs one", p.name, len(found), language, with)
	}
	return found[0]
}

// An Overlay has files that the go command reads as if they were in the checkout.
type Overlay struct {
	t *testing.T
	// Dir is a temporary folder for the files that the test writes.
	Dir     string
	replace map[string]string
}

func NewOverlay(t *testing.T) *Overlay { return &Overlay{t, t.TempDir(), map[string]string{}} }

func (o *Overlay) Add(path, content string) {
	o.t.Helper()
	from := filepath.Join(o.Dir, fmt.Sprintf("%d-%s", len(o.replace), filepath.Base(path)))
	if err := os.WriteFile(from, []byte(content), 0o666); err != nil {
		o.t.Fatal(err)
	}
	o.replace[filepath.Join(root(o.t), path)] = from
}

// Change adds a copy of a file in which a text that occurs once is replaced.
func (o *Overlay) Change(path, old, with string) {
	o.t.Helper()
	content, err := os.ReadFile(filepath.Join(root(o.t), path))
	if err != nil {
		o.t.Fatal(err)
	}
	if n := strings.Count(string(content), old); n != 1 {
		o.t.Fatalf("%s has %q %d times: the test needs it once", path, old, n)
	}
	o.Add(path, strings.Replace(string(content), old, with, 1))
}

func (o *Overlay) Go(command string, args ...string) string {
	o.t.Helper()
	list, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		o.t.Fatal(err)
	}
	path := filepath.Join(o.Dir, "overlay.json")
	if err := os.WriteFile(path, list, 0o666); err != nil {
		o.t.Fatal(err)
	}
	c := exec.CommandContext(o.t.Context(), "go", append([]string{command, "-overlay", path}, args...)...)
	c.Dir = root(o.t)
	out, err := c.CombinedOutput()
	if err != nil {
		o.t.Fatalf("go %s: %v: %s", command, err, out)
	}
	return string(out)
}

// Test runs tests of a package, named without "Test"; each must be there and pass.
func (o *Overlay) Test(pkg string, names ...string) {
	o.t.Helper()
	out := o.Go("test", pkg, "-v", "-run", "^Test("+strings.Join(names, "|")+")$")
	for _, name := range names {
		if !strings.Contains(out, "--- PASS: Test"+name+" ") {
			o.t.Errorf("Test%s did not run and pass: %s", name, out)
		}
	}
}
