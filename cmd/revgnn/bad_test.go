package main

import (
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// TestBadGraphs gives damaged and impossible graphs to `datasets stats` and to `train`. Both commands must fail, with
// an error message that says what is wrong.
func TestBadGraphs(t *testing.T) {
	named, npy := filestest.Named, filestest.NPY
	whole := filestest.Graph()
	for _, c := range []struct {
		want    string
		content []byte
	}{
		{"perhaps cut short", whole[:len(whole)/2]},
		{"perhaps cut short", nil},
		{"more than the limit",
			filestest.Graph(named("node_features", npy("<f4", false, "(1048576, 1048576)", []float32{1})))},
		{"edge 1 joins nodes 2 and 3",
			filestest.Graph(named("edges", npy("<i4", false, "(2, 2)", []int32{0, 1, 2, 3})))},
		{"edge 0 joins nodes -1 and 1",
			filestest.Graph(named("edges", npy("<i4", false, "(2, 2)", []int32{-1, 1, 2, 1})))},
		{"is NaN; features must be finite", filestest.Graph(
			named("node_features", npy("<f4", false, "(3, 2)", []float32{1, float32(math.NaN()), 3, 4, 5, 6})))},
		{"masks must not overlap",
			filestest.Graph(named("val_masks", npy("|b1", false, "(1, 3)", []bool{true, false, false})))},
		{`no array "edges"`, filestest.Graph(named("edges", nil))},
	} {
		path := writeFile(t, "own.npz", c.content)
		fails(t, 1, c.want, "datasets", "stats", path)
		fails(t, 1, c.want, "train", "--dataset", path, "--engine", "go")
	}
	fails(t, 1, "no such file", "train", "--dataset", "no/such/file.npz")
	fails(t, 1, "there is no dataset folder", "bench", "--dataset", "no/such/folder")
	fails(t, 1, "neither an .npz or .json file nor a folder", "train", "--dataset", "main.go")
}

func TestDownloads(t *testing.T) {
	dir := t.TempDir()
	fails(t, 1, "offline mode forbids the download", "train", "--dataset", "cora", "--data", dir, "--offline")
	fails(t, 1, "offline mode forbids the download", "datasets", "get", "cora", "--data", dir, "--offline")
	fails(t, 1, "is missing; fetch it with `revgnn datasets get cora`", "datasets", "verify", "cora", "--data", dir)
	fails(t, 1, "does not have", "datasets", "get", "cora", "--data", dir, "--mirror", t.TempDir())

	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	fails(t, 1, "does not exist (404 Not Found)", "train", "--dataset", "minesweeper", "--data", dir,
		"--mirror", gone.URL)
	wrong := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("<html>log in first</html>"))
	}))
	defer wrong.Close()
	fails(t, 1, "it is not the published file", "datasets", "get", "minesweeper", "--data", dir, "--mirror", wrong.URL)
	empty(t, dir, ".lock")

	var all []struct {
		Name, Error string
		OK          bool
	}
	fails(t, 1, "offline", "datasets", "get", "minesweeper-generated", "cora", "--data", dir, "--offline",
		"--json").document(t, &all)
	if len(all) != 2 || !all[0].OK || all[1].OK || all[1].Error == "" {
		t.Errorf("got %+v", all)
	}
}

func TestGetFromAMirror(t *testing.T) {
	mirror := httptest.NewServer(http.FileServer(http.Dir(shared(t, "data"))))
	defer mirror.Close()
	dir := t.TempDir()
	succeeds(t, "datasets", "get", "minesweeper", "cora", "--data", dir, "--mirror", mirror.URL)
	succeeds(t, "datasets", "verify", "minesweeper", "cora", "--data", dir)
	if err := os.WriteFile(filepath.Join(dir, "minesweeper.npz"), []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "has 5 bytes instead of", "datasets", "verify", "minesweeper", "--data", dir)
	fails(t, 1, "has 5 bytes instead of", "train", "--dataset", "minesweeper", "--data", dir)
}

// TestUnwritable gives commands two folders that they cannot write to, and expects error messages. The path of the
// first folder leads through a file, so that not even root can create this folder. The second folder has no write
// permission.
func TestUnwritable(t *testing.T) {
	below := filepath.Join(writeFile(t, "file", nil), "below")
	train := with(quick, "train", "--dataset", tinyGraph, "--epochs", "1", "--splits", "0")
	fails(t, 1, "cannot write", with(train, "--out", below)...)
	fails(t, 1, "cannot write", "datasets", "get", "minesweeper", "--data", below, "--mirror", t.TempDir())
	fails(t, 1, "cannot write", "predict", "--dataset", tinyGraph, "--weights", "w.npz",
		"--out", filepath.Join(below, "o.npz"))
	if os.Geteuid() == 0 {
		t.Log("root may write everywhere: a folder without write permission is not tested")
		return
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "permission denied", with(train, "--out", closed)...)
	fails(t, 1, "permission denied", "datasets", "get", "minesweeper", "--data", closed, "--mirror", t.TempDir())
}

func TestBadWeights(t *testing.T) {
	named, npy := filestest.Named, filestest.NPY
	dir := t.TempDir()
	out := filepath.Join(dir, "o.npz")
	predict := []string{"predict", "--dataset", tinyGraph, "--engine", "go", "--hidden", "8",
		"--out", out, "--weights"}
	one := npy("<f4", false, "(1,)", []float32{1})
	whole := filestest.Archive(named("param.in_.bias", one))
	for _, c := range []struct {
		want, name string
		content    []byte
	}{
		{"perhaps cut short", "w.npz", whole[:len(whole)-20]},
		{"is not a readable safetensors file", "w.safetensors", []byte("short")},
		{"ends neither in .npz nor in .safetensors", "w.pt", []byte("PK")},
		{"holds no parameters", "w.npz", filestest.Archive(named("out.logits", one))},
		{`have no parameter "in_.weight"`, "w.npz", whole},
		{`have a parameter "in_.other", which gcn+rep with these settings has not`, "w.npz",
			filestest.Archive(named("param.in_.other", one))},
		{"more than the limit", "w.npz",
			filestest.Archive(named("param.in_.bias", npy("<f4", false, "(1048576, 1048576)", []float32{1})))},
	} {
		fails(t, 1, c.want, with(predict, writeFile(t, c.name, c.content))...)
	}
	fails(t, 1, "no such file", with(predict, filepath.Join(dir, "none.npz"))...)
	fails(t, 1, "not a regular file", with(predict, writeFolder(t, "w.npz"))...)
	empty(t, dir)
}

func writeFolder(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
