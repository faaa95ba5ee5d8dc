package engine

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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

// refused is what [OnRefusal] was given, and told whether it has been called.
var (
	refused atomic.Pointer[func(error)]
	told    atomic.Bool
)

// OnRefusal has a function called the first time that a kept program is not used for a reason that its owner should
// know: the folder or a file is open to others, or a byte has changed. It is compiled then as if it were not there.
func OnRefusal(f func(error)) {
	told.Store(false)
	refused.Store(&f)
}

// tell calls what OnRefusal was given, once.
func tell(err error) {
	if f := refused.Load(); f != nil && *f != nil && !told.Swap(true) {
		(*f)(err)
	}
}

// maxPrograms bounds the folder; a program has 0.1 to 5 MB.
const maxPrograms = 512 << 20

// programs is a folder of compiled programs, empty if there is none. They are native code, which runs as the user: only
// the user may have rights on the folder and its files, and a file begins with a sum of its name and its content under
// a secret key ([programs.key]), so that one that was changed, made elsewhere or stored under another's name is never
// handed to the engine. A file has the name of what the program was compiled from, by [programName]. Processes may
// share the folder: files appear whole or not at all. Whatever goes wrong with it, programs are compiled as if it were
// not there.
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

// layout is the version of the files, a part of their names: those of earlier ones are not found.
const layout = "hmac"

// programName is the sum of everything that a compiled program depends on.
func programName(parts ...[]byte) string {
	hash := sha256.New()
	for _, p := range append(parts, []byte(layout)) {
		sum := sha256.Sum256(p)
		hash.Write(sum[:])
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// sum authenticates a program under its name.
func sum(key []byte, name string, program []byte) []byte {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%d %s\n", len(name), name)
	mac.Write(program)
	return mac.Sum(nil)
}

// load returns a program, or nil.
func (dir programs) load(name string) []byte {
	if dir == "" {
		return nil
	}
	if _, err := os.Stat(string(dir)); err != nil {
		return nil
	}
	key, err := dir.key()
	if err != nil {
		tell(notKept(err))
		return nil
	}
	path := filepath.Join(string(dir), name)
	b, err := files.ReadPrivate(path, "a compiled program", maxPrograms)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && (len(b) < sha256.Size || !hmac.Equal(sum(key, name, b[sha256.Size:]), b[:sha256.Size])) {
		err = fmt.Errorf("%s is damaged or not of this user's making", path)
	}
	if err != nil {
		tell(fmt.Errorf("a compiled program is not used, and compiled anew: %w", err))
		return nil
	}
	now := time.Now()
	os.Chtimes(path, now, now) // used last: removed last
	return b[sha256.Size:]
}

func notKept(err error) error {
	return fmt.Errorf("compiled programs are neither kept nor used: %w; or name another folder, or off, by %s", err,
		Programs)
}

// store keeps a program, and removes those that were not used for longest where the folder grows too large.
func (dir programs) store(name string, program []byte, most int64) {
	if dir == "" || os.MkdirAll(string(dir), 0o700) != nil {
		return
	}
	key, err := dir.key()
	if err != nil {
		tell(notKept(err))
		return
	}
	err = files.WritePrivate(filepath.Join(string(dir), name), func(w io.Writer) error {
		if _, err := w.Write(sum(key, name, program)); err != nil {
			return err
		}
		_, err := w.Write(program)
		return err
	})
	if err == nil {
		dir.shrink(most)
	}
}

// shrink removes the programs that were not used for longest until the rest has at most so many bytes.
func (dir programs) shrink(most int64) {
	entries, _ := os.ReadDir(string(dir))
	var all []fs.FileInfo
	var total int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && e.Name() != keyFile {
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
