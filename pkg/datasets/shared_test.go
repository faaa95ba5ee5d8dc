package datasets

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// shared returns a folder with test files that the repository does not contain: copies of public datasets, or expected
// values. The argument what is the name of this folder, such as "data". The folder lies in the folder "shared" beside
// the checkout, or in the folder that the environment variable REVGNN_SHARED names. If the folder does not exist, the
// test is skipped.
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

// atHand are the datasets whose files the folder shared("data") has. The files of the other datasets are larger, and
// are not there.
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
