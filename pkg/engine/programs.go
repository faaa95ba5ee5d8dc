package engine

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/revgnn/revgnn/pkg/files"
)

// Programs is the environment variable that names the folder of compiled programs; "off" keeps none.
const Programs = "REVGNN_PROGRAMS"

// afterCompile is what [AfterCompile] was given.
var afterCompile atomic.Pointer[func()]

// AfterCompile has a function called whenever the XLA CPU engine has compiled a program, on the thread that compiled
// it, and not where the program was kept from before. Compiling takes, for a moment, a few hundred MB that the C
// library may then hold on to; a command that wants them back says so here. Nil calls nothing, as at the start.
func AfterCompile(f func()) {
	if f == nil {
		afterCompile.Store(nil)
		return
	}
	afterCompile.Store(&f)
}

// compiled calls what AfterCompile was given.
func compiled() {
	if f := afterCompile.Load(); f != nil {
		(*f)()
	}
}

// maxPrograms bounds the folder; a program has 0.1 to 5 MB.
const maxPrograms = 512 << 20

// programs is a folder of compiled programs, empty if there is none. A file has the name of what the program was
// compiled from, by [programName], and holds the sha256 of the rest, so that a damaged one is never handed to the
// engine. Processes may share the folder: files appear whole or not at all. Whatever goes wrong with it, programs are
// compiled as if it were not there.
type programs string

func programsDir() programs {
	dir := os.Getenv(Programs)
	if dir == "off" {
		return ""
	}
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(cache, "revgnn", "programs")
	}
	return programs(dir)
}

// programName is the sum of everything that a compiled program depends on.
func programName(parts ...[]byte) string {
	hash := sha256.New()
	for _, p := range parts {
		sum := sha256.Sum256(p)
		hash.Write(sum[:])
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// load returns a program, or nil.
func (dir programs) load(name string) []byte {
	if dir == "" {
		return nil
	}
	path := filepath.Join(string(dir), name)
	b, err := os.ReadFile(path)
	if err != nil || len(b) < sha256.Size {
		return nil
	}
	program := b[sha256.Size:]
	if sum := sha256.Sum256(program); !bytes.Equal(sum[:], b[:sha256.Size]) {
		return nil
	}
	now := time.Now()
	os.Chtimes(path, now, now) // used last: removed last
	return program
}

// store keeps a program, and removes those that were not used for longest where the folder grows too large.
func (dir programs) store(name string, program []byte, most int64) {
	if dir == "" || os.MkdirAll(string(dir), 0o700) != nil {
		return
	}
	err := files.Write(filepath.Join(string(dir), name), func(w io.Writer) error {
		sum := sha256.Sum256(program)
		if _, err := w.Write(sum[:]); err != nil {
			return err
		}
		_, err := w.Write(program)
		return err
	})
	if err != nil {
		return
	}
	entries, _ := os.ReadDir(string(dir))
	var all []fs.FileInfo
	var total int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, info)
			total += info.Size()
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int {
		return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano())
	})
	for _, info := range all {
		if total <= most {
			break
		}
		if os.Remove(filepath.Join(string(dir), info.Name())) == nil {
			total -= info.Size()
		}
	}
}
