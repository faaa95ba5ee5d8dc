// Package pagetest helps tests to do what a page of docs has its readers do: to take the code out of the page, to lay
// it over the checkout, which stays as it is, and to build and run it there.
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

// root is the checkout.
func root(t *testing.T) string {
	t.Helper()
	_, here, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(here) {
		t.Skip("built with -trimpath: the checkout cannot be found, and the page is not tested")
	}
	return filepath.Join(filepath.Dir(here), "../..")
}

// Page is the text of a page.
type Page struct {
	t    *testing.T
	name string
	text string
}

// Read reads a page of docs, such as "add-a-model.md".
func Read(t *testing.T, name string) Page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return Page{t, name, string(text)}
}

// Blocks are the page's pieces of code in a language, such as "go", that have a text in them.
func (p Page) Blocks(language, with string) (found []string) {
	for _, block := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```").FindAllStringSubmatch(p.text, -1) {
		if strings.Contains(block[1], with) {
			found = append(found, block[1])
		}
	}
	return found
}

// Block is the only piece of code in a language that has a text in it.
func (p Page) Block(language, with string) string {
	p.t.Helper()
	found := p.Blocks(language, with)
	if len(found) != 1 {
		p.t.Fatalf("docs/%s has %d pieces of %s with %q: the test needs one", p.name, len(found), language, with)
	}
	return found[0]
}

// Overlay are files that the go command sees in place of the checkout's, or beside them.
type Overlay struct {
	t *testing.T
	// Dir is a folder for what is made meanwhile.
	Dir     string
	replace map[string]string
}

// NewOverlay is one without files.
func NewOverlay(t *testing.T) *Overlay { return &Overlay{t, t.TempDir(), map[string]string{}} }

// Add lays a file over the checkout, by its path there.
func (o *Overlay) Add(path, content string) {
	o.t.Helper()
	from := filepath.Join(o.Dir, fmt.Sprintf("%d-%s", len(o.replace), filepath.Base(path)))
	if err := os.WriteFile(from, []byte(content), 0o666); err != nil {
		o.t.Fatal(err)
	}
	o.replace[filepath.Join(root(o.t), path)] = from
}

// Change replaces a text that occurs once in a file of the checkout.
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

// Go runs a command of go, such as "build", in the checkout with the overlay, and returns its output. It must end well.
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

// Test runs tests of a package by their names, without "Test" before them. All must be there and pass.
func (o *Overlay) Test(pkg string, names ...string) {
	o.t.Helper()
	out := o.Go("test", pkg, "-v", "-run", "^Test("+strings.Join(names, "|")+")$")
	for _, name := range names {
		if !strings.Contains(out, "--- PASS: Test"+name+" ") {
			o.t.Errorf("Test%s did not run and pass: %s", name, out)
		}
	}
}
