package datasets

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// shared returns a folder with test files that the repository does not contain: exact copies of public datasets, and
// expected values. This folder is the subfolder with the name what, such as "data", of the folder "shared" beside the
// checkout. (The environment variable REVGNN_SHARED names another folder to use instead of "shared".) If the subfolder
// does not exist, the test is skipped.
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
