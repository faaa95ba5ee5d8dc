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

// A block is a piece of code on a page: three backquotes, a language, and a mark where the code is not run as it is:
//
//	sh long: WHY   commands that take long, or need what a test has not; only their flags are checked
//	go part: WHY   Go that is not whole
//
// What Go needs to be declared stands before it in a comment, <!-- before: DECLARATIONS -->.
type block struct {
	page, language, mark, before, code string
	line                               int
}

var blockPattern = regexp.MustCompile("(?m)(?:^<!-- before: ([^\n]*) -->\n+)?^```([a-z]+)( [^\n]*)?\n((?s:.*?))^```$")

// blocks are the pieces of code of all pages in a language.
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

// TestGo type-checks every piece of Go that is not marked as a part. The pages add-a-… have tests of their own, which
// build and run what their readers are told to write (see package pagetest).
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

// TestCommandLines: on every page, commands that are not marked as long are run, one after the other, in a folder of
// their own, which has a small graph in my-graph and revgnn in its PATH; of those that are long, and of commands within
// lines, the flags are checked. They are run where REVGNN_TEST_DOCS is 1; otherwise flags are all that is checked.
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

// inlineCommand is a command with flags within a line of text.
var inlineCommand = regexp.MustCompile("`((?:bin/)?revgnn [a-z][^`\n…]*)`")

// flagsOnly has commands do nothing: revgnn reads its flags and shows its help, make says what it would do.
const flagsOnly = `revgnn() { command revgnn "$@" --help >/dev/null; }
bin/revgnn() { revgnn "$@"; }
.venv/bin/python() { true; }
make() { command make -n -C "$CHECKOUT" "$@" >/dev/null; }
for name in docker podman grep srun scontrol share-runs go git sbatch; do eval "$name() { true; }"; done
`

// runAll runs pieces of a page in a new folder.
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

// smallGraph is a graph as a reader may have one: a ring of nodes with numbers as features, two classes, some unknown.
func smallGraph(t *testing.T, dir string) {
	t.Helper()
	const size = 60
	var nodes, edges strings.Builder
	nodes.WriteString("id,label,age,visits\n")
	edges.WriteString("source,target\n")
	for i := range size {
		label := []string{"reader", "writer"}[i/5%2]
		if i%10 == 9 {
			label = ""
		}
		fmt.Fprintf(&nodes, "n%d,%s,%d,%d\n", i, label, 20+i%7, i%5)
		fmt.Fprintf(&edges, "n%d,n%d\n", i, (i+1)%size)
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
