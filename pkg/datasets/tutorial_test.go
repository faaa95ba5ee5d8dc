package datasets

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTutorial does what docs/add-a-dataset.md has its readers do: it runs the program that writes an archive, adds the
// entries to the manifest and the format to the parsers, and runs the page's test of the two datasets and of a graph
// made in Go. All of that is laid over the checkout (go's -overlay), which stays as it is.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile("../../docs/add-a-dataset.md")
	if err != nil {
		t.Fatal(err)
	}
	page, dir := string(text), t.TempDir()
	over := overlay{t: t, dir: dir, replace: map[string]string{}}
	entries := blocks(page, "json", "{")
	if len(entries) != 2 {
		t.Fatalf("the page has %d entries of the manifest", len(entries))
	}
	over.change("data/manifest.json", "\n  ]\n}", ",\n"+strings.Join(entries, ",")+"\n  ]\n}")
	over.change("data/data.go", "\tPlatonov  ", one(t, page, "\tLines")+"\tPlatonov  ")
	over.change("pkg/datasets/load.go", "\tcase data.Planetoid:", one(t, page, "\tcase data.Lines")+"\tcase data.Planetoid:")
	over.add("tutorial/main.go", one(t, page, "// Command ring"))
	over.add("pkg/datasets/lines.go", parser(t, page))
	over.add("pkg/datasets/ring_test.go", one(t, page, "package datasets\n\nimport (\n\t\"math\""))
	over.add("pkg/datasets/ring_more_test.go", "package datasets\n\nimport (\n\t\"os\"\n\t\"testing\"\n\n"+
		"\t\"github.com/revgnn/revgnn/pkg/graphs\"\n)\n\nfunc TestRingMore(t *testing.T) {\n"+
		one(t, page, "features, labels :=")+"\tif err != nil || len(g.Edges) != 4 {\n\t\tt.Fatal(g, err)\n\t}\n"+
		"\tif g, err = Load(t.Context(), \"ring-lines\", Options{Dir: t.TempDir(), Mirror: os.Getenv(\"RING\")}); err != nil "+
		"|| len(g.Edges) != 60 || !g.RowNormalised {\n\t\tt.Fatal(g, err)\n\t}\n}\n")

	program := filepath.Join(dir, "ring")
	over.run("build", "-o", program, "./tutorial")
	write := exec.CommandContext(t.Context(), program)
	write.Dir = dir
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var lines strings.Builder
	for i := range 60 {
		fmt.Fprintf(&lines, "%d %d,%d %d\n", i%2, i%3, i%5, (i+1)%60)
	}
	if err := os.WriteFile(filepath.Join(dir, "ring.txt"), []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RING", dir)
	out := over.run("test", "./pkg/datasets", "-v", "-run", "^TestRing")
	for _, name := range []string{"Ring", "RingMore"} {
		if !strings.Contains(out, "--- PASS: Test"+name+" ") {
			t.Error(out)
		}
	}
}

// blocks are a page's pieces of code in a language that begin with a text.
func blocks(page, language, begin string) (found []string) {
	for _, block := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
		if strings.HasPrefix(block[1], begin) {
			found = append(found, block[1])
		}
	}
	return found
}

// one is the page's piece of Go that begins with a text, of which there must be one.
func one(t *testing.T, page, begin string) string {
	t.Helper()
	found := blocks(page, "go", begin)
	if len(found) != 1 {
		t.Fatalf("the page has %d pieces of Go that begin with %q", len(found), begin)
	}
	return found[0]
}

// parser is the page's parser.
func parser(t *testing.T, page string) string {
	t.Helper()
	for _, code := range blocks(page, "go", "package datasets") {
		if strings.Contains(code, "func linesGraph") {
			return code
		}
	}
	t.Fatal("the page has no parser")
	return ""
}

// overlay are files that the go command sees in place of the checkout's.
type overlay struct {
	t       *testing.T
	dir     string
	replace map[string]string
}

// root is the checkout.
const root = "../.."

// add puts a file into the checkout, by its path there.
func (o overlay) add(path, content string) {
	o.t.Helper()
	to, err := filepath.Abs(filepath.Join(root, path))
	if err != nil {
		o.t.Fatal(err)
	}
	from := filepath.Join(o.dir, fmt.Sprintf("%d-%s", len(o.replace), filepath.Base(path)))
	if err := os.WriteFile(from, []byte(content), 0o666); err != nil {
		o.t.Fatal(err)
	}
	o.replace[to] = from
}

// change replaces a text that is once in a file of the checkout.
func (o overlay) change(path, old, with string) {
	o.t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		o.t.Fatal(err)
	}
	if n := strings.Count(string(content), old); n != 1 {
		o.t.Fatalf("%s has %q %d times", path, old, n)
	}
	o.add(path, strings.Replace(string(content), old, with, 1))
}

// run is the output of the go command, which must end well.
func (o overlay) run(command string, args ...string) string {
	o.t.Helper()
	list, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		o.t.Fatal(err)
	}
	path := filepath.Join(o.dir, "overlay.json")
	if err := os.WriteFile(path, list, 0o666); err != nil {
		o.t.Fatal(err)
	}
	c := exec.CommandContext(o.t.Context(), "go", append([]string{command, "-overlay", path}, args...)...)
	c.Dir = root
	out, err := c.CombinedOutput()
	if err != nil {
		o.t.Fatalf("go %s: %v: %s", command, err, out)
	}
	return string(out)
}
