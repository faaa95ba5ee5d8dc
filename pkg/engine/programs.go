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

// Programs is the name of the environment variable with the path of the folder of kept programs. If the variable is
// "off", programs are not kept.
const Programs = "REVGNN_PROGRAMS"

// afterCompile is the function that was passed to [AfterCompile].
var afterCompile atomic.Pointer[func()]

// AfterCompile sets a function f that is called whenever the XLA CPU engine has compiled a program. f is called on the
// thread that compiled the program. It is not called when a kept program has been loaded instead. Compiling takes a few
// hundred MB of memory for a short time. The C library may not give this memory back to the operating system by itself,
// but f can give it back: see Trim in package host. If f is nil, no function is called; this is also the default.
func AfterCompile(f func()) {
	if f == nil {
		afterCompile.Store(nil)
		return
	}
	afterCompile.Store(&f)
}

// compiled calls the function that was passed to [AfterCompile].
func compiled() {
	if f := afterCompile.Load(); f != nil {
		(*f)()
	}
}

// refused is the function that was passed to [OnRefusal], and told says whether this function has been called.
var (
	refused atomic.Pointer[func(error)]
	told    atomic.Bool
)

// OnRefusal sets a function that is called with an error if a kept program is not used for a reason that the user
// should know. Such a reason is that other users have access to the folder or to a file in it, or that a file has
// changed. The function is called only the first time that this happens. The program is compiled again each time.
func OnRefusal(f func(error)) {
	told.Store(false)
	refused.Store(&f)
}

// tell calls the function that was passed to [OnRefusal], unless it has been called before.
func tell(err error) {
	if f := refused.Load(); f != nil && *f != nil && !told.Swap(true) {
		(*f)(err)
	}
}

// maxPrograms is the largest size of the folder of kept programs, in bytes. A program takes 0.1 to 5 MB.
const maxPrograms = 512 << 20

// programs is the path of a folder of kept programs, or empty if programs are not kept. The name of a file is a hash of
// everything that the program depends on; see [programName]. Several processes may use the folder at the same time,
// since a new file becomes visible only when it is complete. If the folder cannot be used, programs are compiled each
// time, as if there were no folder.
//
// A program is machine code that runs with the user's rights, so that a file from somebody else could do harm.
// Therefore only the user may have access to the folder and its files. Besides, each file begins with a message
// authentication code (HMAC), which is computed from the file's name, its content and a secret key ([programs.key]). A
// file that was changed, renamed or made elsewhere does not have the right code, and is never passed to the engine.
type programs string

// programsDir is the folder that the environment variable REVGNN_PROGRAMS names. If the variable is not set, it is a
// folder in the user's cache folder. If programs are not kept, programsDir is empty.
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

// layout is the version of the format of kept programs. The name of a file is a hash that also depends on layout, so
// that files in another format are not found.
const layout = "hmac"

// programName is the file name of a program: a hash of everything that the program depends on. The arguments are the
// parts that are hashed.
func programName(parts ...[]byte) string {
	hash := sha256.New()
	for _, p := range append(parts, []byte(layout)) {
		sum := sha256.Sum256(p)
		hash.Write(sum[:])
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// sum is the message authentication code of a program and its name, computed with a secret key.
func sum(key []byte, name string, program []byte) []byte {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%d %s\n", len(name), name)
	mac.Write(program)
	return mac.Sum(nil)
}

// load returns the kept program with the given file name. It returns nil if there is no such file, or if the file may
// not be used.
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
	os.Chtimes(path, now, now) // This is the time of the last use, by which shrink sorts programs.
	return b[sha256.Size:]
}

// notKept returns the error for a folder of kept programs that cannot be used. The argument is the reason.
func notKept(err error) error {
	return fmt.Errorf("compiled programs are neither kept nor used: %w; or name another folder, or off, by %s", err,
		Programs)
}

// store writes a program to the folder. If the programs in the folder then take more than most bytes, store calls
// shrink, which removes some of them.
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

// shrink removes programs until the remaining ones take at most the given number of bytes. It begins with the program
// that has not been used for the longest time.
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
