package datasets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/data"
)

func TestDir(t *testing.T) {
	t.Setenv("REVGNN_DATA", "/some/where")
	if dir, err := Dir("flag"); err != nil || dir != "flag" {
		t.Errorf("the flag gives %q, %v", dir, err)
	}
	if dir, err := Dir(""); err != nil || dir != "/some/where" {
		t.Errorf("the environment gives %q, %v", dir, err)
	}
	t.Setenv("REVGNN_DATA", "")
	t.Setenv("XDG_CACHE_HOME", "/cache")
	t.Setenv("HOME", "/home/user")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if dir, err := Dir(""); err != nil || dir != filepath.Join(cache, "revgnn", "data") {
		t.Errorf("the default is %q, %v", dir, err)
	}
}

func TestUnknownNames(t *testing.T) {
	for name, want := range map[string]string{
		"chamelon":       "did you mean chameleon-filtered?",
		"chameleon":      "did you mean chameleon-filtered?",
		"Cora":           "did you mean cora?",
		"roman_empire":   "did you mean roman-empire?",
		"mine":           "did you mean minesweeper or minesweeper-generated?",
		"zzz":            "known are squirrel-filtered, chameleon-filtered, roman-empire",
		"":               "known are",
		"no/such/folder": "there is no dataset folder no/such/folder",
		"nosuch.npz":     "no such file",
		"options.go":     "neither an .npz or .json file nor a folder",
	} {
		_, err := Load(t.Context(), name, Options{Offline: true})
		mustFail(t, name, err, want)
	}
	for _, f := range []func(string) error{
		func(n string) error { return Get(t.Context(), n, Options{}) },
		func(n string) error { return Verify(n, Options{}) },
		func(n string) error { _, err := Info(n); return err },
	} {
		mustFail(t, "zzz", f("zzz"), `unknown dataset "zzz"`)
	}
}

func TestNamesHaveInfo(t *testing.T) {
	if n := len(Names()); n != len(data.Datasets())+1 {
		t.Errorf("%d names", n)
	}
	for _, name := range Names() {
		info, err := Info(name)
		if err != nil || info.Name != name || Task(name, nil) != info.Task {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
	}
}

func TestMissingAndWrongFiles(t *testing.T) {
	dir := t.TempDir()
	opts := Options{Dir: dir, Offline: true}
	_, err := Load(t.Context(), "minesweeper", opts)
	mustFail(t, "missing", err, "offline mode forbids the download")
	mustFail(t, "missing", Verify("minesweeper", opts), "is missing; fetch it with")
	mustFail(t, "missing", Get(t.Context(), "minesweeper", opts), "offline mode forbids the download")
	if err := os.WriteFile(filepath.Join(dir, "minesweeper.npz"), make([]byte, 135045), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Load(t.Context(), "minesweeper", opts)
	mustFail(t, "wrong content", err, "has the SHA-256")
	if err := os.WriteFile(filepath.Join(dir, "minesweeper.npz"), make([]byte, 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Load(t.Context(), "minesweeper", opts)
	mustFail(t, "wrong size", err, "has 1000 bytes instead of 135045")
	mustFail(t, "wrong size", Verify("minesweeper", opts), "has 1000 bytes instead of 135045")
}

// TestGetReplacesAWrongFile checks that Get replaces a wrong file by the right file from a mirror. Load must then
// accept the new file. It also checks that Load fetches a missing dataset from the mirror.
func TestGetReplacesAWrongFile(t *testing.T) {
	dir := t.TempDir()
	opts := Options{Dir: dir, Mirror: shared(t, "data"), Offline: true}
	if err := os.WriteFile(filepath.Join(dir, "minesweeper.npz"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Get(t.Context(), "minesweeper", opts); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"minesweeper", "cora"} {
		if _, err := Load(t.Context(), name, opts); err != nil {
			t.Error(err)
		}
	}
	if err := Verify("cora", opts); err != nil {
		t.Error(err)
	}
}

// A folder that has the name of a public dataset is told apart from it.
func TestFolderNamedAsDataset(t *testing.T) {
	data, err := filepath.Abs(shared(t, "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if _, err := WriteClub("minesweeper"); err != nil {
		t.Fatal(err)
	}
	public, err := Load(t.Context(), "minesweeper", Options{Dir: data, Offline: true})
	if err != nil || public.NumNodes != 10000 || len(public.Notes) != 1 ||
		!strings.Contains(public.Notes[0], "the folder of this name here is ./minesweeper") {
		t.Errorf("%v: notes %q", err, public.Notes)
	}
	if own, err := Load(t.Context(), "./minesweeper", Options{}); err != nil || own.NumNodes != 900 {
		t.Errorf("the folder: %v", err)
	}
}
