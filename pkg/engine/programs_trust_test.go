//go:build unix

package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/quick"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// refusals passes a function to [OnRefusal]. The function is called with an error when a kept program is refused, and
// appends the error's message to a list. refusals returns a pointer to this list, which is empty at first. At the end
// of the test, the function is removed.
func refusals(t testing.TB) *[]string {
	var all []string
	OnRefusal(func(err error) { all = append(all, err.Error()) })
	t.Cleanup(func() { OnRefusal(nil) })
	return &all
}

// TestProgramsTrust checks that a kept program is not loaded if it cannot be trusted. The test stores a program in a
// folder, and then makes a change. For example, other users get access to the folder or to a file in it, or another
// file takes the place of the program's file. After each change, the program must not be loaded.
func TestProgramsTrust(t *testing.T) {
	name := func(dir programs, file string) string { return filepath.Join(string(dir), file) }
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for what, change := range map[string]func(*testing.T, programs){
		"an open folder": func(t *testing.T, dir programs) { must(t, os.Chmod(string(dir), 0o750)) },
		"an open file":   func(t *testing.T, dir programs) { must(t, os.Chmod(name(dir, "a"), 0o644)) },
		"an open key":    func(t *testing.T, dir programs) { must(t, os.Chmod(name(dir, keyFile), 0o640)) },
		"another program under the name": func(t *testing.T, dir programs) {
			dir.store("b", []byte("other"), 1<<20)
			must(t, os.Rename(name(dir, "b"), name(dir, "a")))
		},
		"a program of another key": func(t *testing.T, dir programs) {
			other := private(t)
			other.store("a", []byte("theirs"), 1<<20)
			must(t, os.Rename(name(other, "a"), name(dir, "a")))
		},
		"a named pipe": func(t *testing.T, dir programs) {
			must(t, os.Remove(name(dir, "a")))
			must(t, syscall.Mkfifo(name(dir, "a"), 0o600))
		},
		"a file of another user": func(t *testing.T, dir programs) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			must(t, os.Chown(name(dir, "a"), 12345, -1))
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := private(t)
			dir.store("a", []byte("ours"), 1<<20)
			if !bytes.Equal(dir.load("a"), []byte("ours")) {
				t.Fatal("a program that was stored cannot be loaded")
			}
			told := refusals(t)
			change(t, dir)
			for range 2 {
				if got := dir.load("a"); got != nil {
					t.Errorf("%q was loaded", got)
				}
			}
			if len(*told) != 1 || strings.ContainsAny((*told)[0], "\n") {
				t.Errorf("it was told %q, want one sentence", *told)
			}
		})
	}
}

// TestProgramsModes checks that only the user has access to the folder of kept programs and to the files in it. These
// are the files of the programs, and a file with the secret key that [programs] describes. The test also shortens the
// file with the key. It then checks that a new key is made.
func TestProgramsModes(t *testing.T) {
	dir := programs(filepath.Join(t.TempDir(), "new", "programs"))
	dir.store("a", []byte("ours"), 1<<20)
	for path, want := range map[string]os.FileMode{"": 0o700, "a": 0o600, keyFile: 0o600} {
		if info, err := os.Stat(filepath.Join(string(dir), path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v; want mode %o", path, info, err, want)
		}
	}
	if err := os.Truncate(filepath.Join(string(dir), keyFile), 5); err != nil {
		t.Fatal(err)
	}
	if dir.load("a") != nil {
		t.Error("a program was loaded without its key")
	}
	dir.store("a", []byte("again"), 1<<20)
	if got := dir.load("a"); string(got) != "again" {
		t.Errorf("got %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(string(dir), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestFlippedBytes checks that a kept program is not loaded if a byte of its file has changed. The file begins with a
// checksum, which is computed with a secret key. The key is in a file of its own, in the same folder ([programs]). The
// program must not be loaded, either, if a byte of the key's file has changed. The test changes one byte at a time, and
// restores it before it changes the next byte. Afterwards it must be possible to store the program again.
func TestFlippedBytes(t *testing.T) {
	dir := private(t)
	dir.store("a", []byte("a program"), 1<<20)
	for _, name := range []string{"a", keyFile} {
		filestest.FlipsOf(t, filepath.Join(string(dir), name), func(at int) {
			told := refusals(t)
			if got := dir.load("a"); got != nil || len(*told) != 1 || !strings.Contains((*told)[0], "compiled anew") {
				t.Errorf("with another byte %d of %s, %q was loaded, and %q told", at, name, got, *told)
			}
		})
		dir.store("a", []byte("again"), 1<<20)
		if got := dir.load("a"); string(got) != "again" {
			t.Errorf("got %q after a change of %s", got, name)
		}
	}
}

// FuzzProgram checks that the file of a kept program is loaded only if it has the content that was stored.
func FuzzProgram(f *testing.F) {
	dir := private(f)
	dir.store("a", []byte("ours"), 1<<20)
	path := filepath.Join(string(dir), "a")
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(whole[:40])
	f.Add(append(make([]byte, 32), "theirs"...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		filestest.Parse(t, func() error {
			if got := dir.load("a"); got != nil && !bytes.Equal(b, whole) {
				t.Errorf("%q was loaded", got)
			}
			return nil
		})
	})
}

// TestSumsDiffer checks the message authentication code of a kept program, which is computed from the program and its
// file name ([programs]). Two codes must differ if the names or the programs differ. For example, the code of the name
// "ab" and the program "c" must differ from the code of the name "a" and the program "bc".
func TestSumsDiffer(t *testing.T) {
	key := make([]byte, keySize)
	differ := func(name, other string, program, another []byte) bool {
		same := name == other && bytes.Equal(program, another)
		return same == bytes.Equal(sum(key, name, program), sum(key, other, another))
	}
	if err := quick.Check(differ, nil); err != nil || !differ("ab", "a", []byte("c"), []byte("bc")) {
		t.Error("two programs have the same sum: ", err)
	}
}
