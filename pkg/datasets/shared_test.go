package datasets

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// shared returns a folder with files for tests that are not in the repository: exact copies of public datasets, and
// expected values. The argument what is the name of a subfolder of the folder "shared", which lies beside the checkout,
// or of the folder that REVGNN_SHARED names. Without this subfolder the test is skipped.
func shared(t testing.TB, what string) string {
	t.Helper()
	root := os.Getenv("REVGNN_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(root, what)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no folder %s: the comparison with real files in it is skipped; set REVGNN_SHARED to run it", dir)
	}
	return dir
}

// atHand are the datasets that the shared folder has. It does not have the other datasets, whose files are larger.
var atHand = []string{"squirrel-filtered", "chameleon-filtered", "minesweeper", "tolokers", "cora", "citeseer",
	"pubmed", "computers", "photo"}

func load(t testing.TB, name string) *graphs.Graph {
	t.Helper()
	g, err := Load(context.Background(), name, Options{Dir: shared(t, "data"), Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	return g
}
