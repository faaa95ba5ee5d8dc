package docs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/imports"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// A block is a piece of code on a page of the documentation. It begins with three backquotes and the language. A mark
// may follow, which says that the code is not run or checked as usual, and why:
//
//	sh long: WHY   commands that take long, or need something that a test does not have; only their flags are checked
//	go part: WHY   an incomplete piece of Go, which is not checked
//
// A piece of Go may use variables that it does not declare. A comment before the block then has the declarations:
//
//	<!-- before: DECLARATIONS -->
type block struct {
	page, language, mark, before, code string
	line                               int
}

var blockPattern = regexp.MustCompile("(?m)(?:^<!-- before: ([^\n]*) -->\n+)?^```([a-z]+)( [^\n]*)?\n((?s:.*?))^```$")

// blocks returns all pieces of code in the given language, from all pages.
func blocks(t *testing.T, language string) (all []block) {
	t.Helper()
	for _, page := range pages(t) {
		text := read(t, page)
		for _, at := range blockPattern.FindAllStringSubmatchIndex(text, -1) {
			part := func(n int) string {
				if at[2*n] < 0 {
					return ""
				}
				return text[at[2*n]:at[2*n+1]]
			}
			if part(2) == language {
				all = append(all, block{page, part(2), strings.TrimSpace(part(3)), part(1), part(4),
					1 + strings.Count(text[:at[0]], "\n")})
			}
		}
	}
	if len(all) == 0 {
		t.Fatalf("no page has %s", language)
	}
	return all
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// TestJSON: every piece of JSON is JSON.
func TestJSON(t *testing.T) {
	for _, b := range blocks(t, "json") {
		if !json.Valid([]byte(b.code)) {
			t.Errorf("%s: not JSON", b)
		}
	}
}

// TestGo checks that pieces of Go on the pages compile. It leaves out incomplete pieces, which have the mark "part". It
// also leaves out the pages whose names begin with add-a-: these pages have their own tests, which build and run the
// code of the page (see package pagetest).
func TestGo(t *testing.T) {
	dir, err := filepath.Abs("blocks")
	if err != nil {
		t.Fatal(err)
	}
	overlay, of := map[string][]byte{}, map[string]block{}
	for i, b := range blocks(t, "go") {
		if strings.HasPrefix(filepath.Base(b.page), "add-a-") || strings.HasPrefix(b.mark, "part: ") {
			continue
		}
		if b.mark != "" {
			t.Errorf("%s: unknown mark %q", b, b.mark)
		}
		file := filepath.Join(dir, fmt.Sprintf("block%d.go", i))
		code, err := imports.Process(file, fmt.Appendf(nil, "package blocks\n\nimport graph \"github.com/gomlx/gomlx/core/graph\"\n\nvar _ *graph.Node\n\nfunc block%d() {\n%s\n%s\n}\n", i, b.before,
			b.code), nil)
		if err != nil {
			t.Errorf("%s: %v", b, err)
			continue
		}
		overlay[file], of[file] = code, b
	}
	if len(overlay) == 0 {
		t.Fatal("no piece of Go is checked")
	}
	found, err := packages.Load(&packages.Config{Context: t.Context(), Overlay: overlay, Dir: root,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
			packages.NeedExportFile | packages.NeedSyntax | packages.NeedTypesInfo}, "./docs/blocks")
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	for _, e := range found[0].Errors {
		if file, _, _ := strings.Cut(e.Pos, ":"); !strings.Contains(e.Msg, "declared and not used") {
			t.Errorf("%s: %s", of[file], e.Msg)
		}
	}
}

// TestCommandLines checks the shell commands on every page. If the environment variable REVGNN_TEST_DOCS is set, the
// commands of a page are run, one after the other. They run in a new folder, which has a small graph in my-graph. For
// commands in a block with the mark "long", and for commands within a line of text, only the flags are checked. If the
// variable is not set, only the flags of all commands are checked.
func TestCommandLines(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "revgnn")
	if out, err := exec.Command("go", "build", "-o", bin, "../cmd/revgnn").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	scripts, order := map[string][]string{}, []string{}
	add := func(page, line string) {
		if scripts[page] == nil {
			order = append(order, page)
		}
		scripts[page] = append(scripts[page], line)
	}
	for _, b := range blocks(t, "sh") {
		long := strings.HasPrefix(b.mark, "long: ")
		if b.mark != "" && !long {
			t.Errorf("%s: unknown mark %q", b, b.mark)
		}
		if long || os.Getenv("REVGNN_TEST_DOCS") == "" {
			add(b.page, "(\n"+flagsOnly+b.code+")")
		} else {
			add(b.page, b.code)
		}
	}
	for _, page := range pages(t) {
		if strings.HasPrefix(filepath.Base(page), "add-a-") {
			continue // their models are not there
		}
		for _, c := range inlineCommand.FindAllStringSubmatch(fence.ReplaceAllString(read(t, page), ""), -1) {
			add(page, "(\n"+flagsOnly+c[1]+"\n)")
		}
	}
	for _, page := range order {
		t.Run(filepath.Base(page), func(t *testing.T) { runAll(t, bin, scripts[page]) })
	}
}

// inlineCommand matches a command of revgnn that is in backquotes within a line of text.
var inlineCommand = regexp.MustCompile("`((?:bin/)?revgnn [a-z][^`\n…]*)`")

// flagsOnly are definitions of shell functions that replace programs. With them, the commands on a page do no work:
// revgnn only checks its flags, make only checks its targets, and the other programs do nothing.
const flagsOnly = `revgnn() { command revgnn "$@" --help >/dev/null; }
bin/revgnn() { revgnn "$@"; }
.venv/bin/python() { true; }
make() { command make -n -C "$CHECKOUT" "$@" >/dev/null; }
for name in docker podman grep sinfo srun scontrol share-runs go git sbatch; do eval "$name() { true; }"; done
`

// runAll runs the given pieces of shell code, one after the other, in a new folder that has a small graph. The argument
// bin is the path of the program revgnn.
func runAll(t *testing.T, bin string, pieces []string) {
	dir := t.TempDir()
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	smallGraph(t, filepath.Join(dir, "my-graph"))
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(bin, filepath.Join(dir, "bin", "revgnn")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-Eeuo", "pipefail", "-c",
		"trap 'echo \"failed: $BASH_COMMAND\"' ERR\n"+strings.Join(pieces, "\n"))
	c.Dir = dir
	c.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "CHECKOUT="+checkout)
	if library, err := echarts.Path(); err == nil { // revgnn runs outside of the checkout here
		c.Env = append(c.Env, echarts.Variable+"="+library)
	}
	out, err := c.CombinedOutput()
	if err != nil {
		text := string(out)
		t.Errorf("%v: …%s", err, text[max(0, len(text)-1500):])
	}
}

// smallGraph writes a small graph into the folder dir, as two CSV files. Its nodes form a ring with weights. They have
// two numbers and a text as features, and belong to two classes. Every tenth node has no label.
func smallGraph(t *testing.T, dir string) {
	t.Helper()
	const size = 60
	var nodes, edges strings.Builder
	nodes.WriteString("id,label,age,visits,town\n")
	edges.WriteString("source,target,weight\n")
	for i := range size {
		label := []string{"reader", "writer"}[i/5%2]
		if i%10 == 9 {
			label = ""
		}
		fmt.Fprintf(&nodes, "n%d,%s,%d,%d,%s\n", i, label, 20+i%7, i%5, []string{"Bern", "Cork"}[i%2])
		fmt.Fprintf(&edges, "n%d,n%d,%d\n", i, (i+1)%size, 1+i%3)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"nodes.csv": nodes.String(), "edges.csv": edges.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
