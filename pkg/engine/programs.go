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

// Programs is the environment variable that names the folder of compiled programs; "off" turns it off.
const Programs = "REVGNN_PROGRAMS"

// afterCompile is the function set by [AfterCompile].
var afterCompile atomic.Pointer[func()]

// AfterCompile sets a function to be called whenever the XLA CPU engine has compiled a program, on the thread that
// compiled it, but not when a kept program was loaded. Compiling briefly takes a few hundred MB, which the C library
// may hold on to; a command can give them back here. nil, the initial value, calls nothing.
func AfterCompile(f func()) {
	if f == nil {
		afterCompile.Store(nil)
		return
	}
	afterCompile.Store(&f)
}

// compiled calls the function set by AfterCompile.
func compiled() {
	if f := afterCompile.Load(); f != nil {
		(*f)()
	}
}

// refused is the function set by [OnRefusal], and told tells that it has been called.
var (
	refused atomic.Pointer[func(error)]
	told    atomic.Bool
)

// OnRefusal sets a function to be called the first time that a kept program is refused for a reason that the user
// should know: other users have access to the folder or a file, or a byte has changed. The program is then compiled
// again.
func OnRefusal(f func(error)) {
	told.Store(false)
	refused.Store(&f)
}

// tell calls the function set by OnRefusal, once.
func tell(err error) {
	if f := refused.Load(); f != nil && *f != nil && !told.Swap(true) {
		(*f)(err)
	}
}

// maxPrograms bounds the size of the folder; a program takes 0.1 to 5 MB.
const maxPrograms = 512 << 20

// programs is a folder of compiled programs; empty if there is none. The programs are native code that runs as the
// user. Therefore only the user may have access to the folder and its files, and each file begins with a MAC of its
// name and content under a secret key ([programs.key]): a file that was changed, made elsewhere or renamed is never
// passed to the engine. A file is named after what the program was compiled from, by [programName]. Processes may
// share the folder, since files appear whole or not at all. Whatever goes wrong with the folder, programs are compiled
// as if it were not there.
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

// layout is the version of the files' format. It is part of their names, so that files of earlier versions are not
// found.
const layout = "hmac"

// programName is a hash of everything that a compiled program depends on.
func programName(parts ...[]byte) string {
	hash := sha256.New()
	for _, p := range append(parts, []byte(layout)) {
		sum := sha256.Sum256(p)
		hash.Write(sum[:])
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// sum is the HMAC of a program and its name.
func sum(key []byte, name string, program []byte) []byte {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%d %s\n", len(name), name)
	mac.Write(program)
	return mac.Sum(nil)
}

// load returns a kept program, or nil.
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
	os.Chtimes(path, now, now) // the most recently used programs are removed last
	return b[sha256.Size:]
}

func notKept(err error) error {
	return fmt.Errorf("compiled programs are neither kept nor used: %w; or name another folder, or off, by %s", err,
		Programs)
}

// store writes a program to the folder. If the folder then holds more bytes than most, store removes the programs that
// have not been used for the longest time.
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

// shrink removes programs, those not used for longest first, until the rest takes at most most bytes.
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
