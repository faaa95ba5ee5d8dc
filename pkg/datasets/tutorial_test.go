package datasets

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/docs/pagetest"
)

// TestTutorial follows the instructions of the page docs/add-a-dataset.md. It does not change any file of the checkout.
// Instead, the Go command gets an overlay: a list of files to read in addition to the files of the checkout, or in
// their place. In the overlay, the manifest has the page's entries, and this package has the page's code for a new file
// format. TestTutorial runs the program on the page, which writes an archive. Then it runs the test that is on the
// page, and tests of the other code on the page.
func TestTutorial(t *testing.T) {
	page, over := pagetest.Read(t, "add-a-dataset.md"), pagetest.NewOverlay(t)
	entries := page.Blocks("json", `"format"`)
	if len(entries) != 2 {
		t.Fatalf("the page has %d entries of the manifest", len(entries))
	}
	const end, constant, format = "\n  ]\n}", "\tPlatonov  ", "\tcase data.Planetoid:"
	over.Change("data/manifest.json", end, ",\n"+strings.Join(entries, ",")+end)
	over.Change("data/data.go", constant, page.Block("go", "Lines = ")+constant)
	over.Change("pkg/datasets/load.go", format, page.Block("go", "case data.Lines:")+format)
	over.Add("tutorial/main.go", page.Block("go", "package main"))
	over.Add("pkg/datasets/lines.go", page.Block("go", "func linesGraph"))
	over.Add("pkg/datasets/ring_test.go", page.Block("go", "func TestRing("))
	over.Add("pkg/datasets/ring_more_test.go", fmt.Sprintf(`package datasets

import (
	"os"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
)

func TestSquare(t *testing.T) {
%s	if err != nil || len(g.Edges) != 4 {
		t.Error(g, err)
	}
}

func TestLines(t *testing.T) {
	g, err := Load(t.Context(), "ring-lines", Options{Dir: t.TempDir(), Mirror: os.Getenv("RING")})
	if err != nil || len(g.Edges) != 60 || !g.RowNormalised {
		t.Error(g, err)
	}
	_, err = Load(t.Context(), "ring-lines-balanced", Options{Dir: t.TempDir(), Mirror: os.Getenv("RING")})
	if err != nil {
		t.Error(err)
	}
}
`, page.Block("go", "graphs.New(\"square\"")))

	program := filepath.Join(over.Dir, "ring")
	over.Go("build", "-o", program, "./tutorial")
	write := exec.CommandContext(t.Context(), program)
	write.Dir = over.Dir
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var lines strings.Builder
	for i := range 60 {
		fmt.Fprintf(&lines, "%d %d,%d %d\n", i%2, i%3, i%5, (i+1)%60)
	}
	if err := os.WriteFile(filepath.Join(over.Dir, "ring.txt"), []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RING", over.Dir)
	over.Test("./pkg/datasets", "Ring", "Square", "Lines", "NamesHaveInfo")
	over.Test("./data", "ManifestIsComplete")
}
