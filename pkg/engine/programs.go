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

// Programs is the name of an environment variable. Its value is the path of the folder of kept programs. If the value
// is "off", programs are not kept.
const Programs = "REVGNN_PROGRAMS"

// refused is the function that was passed to [OnRefusal]. told says whether this function has been called.
var (
	refused atomic.Pointer[func(error)]
	told    atomic.Bool
)

// OnRefusal sets a function f that is called if kept programs cannot be used. The argument of f is an error that states
// the reason. For example, other users have access to the folder, or a file in it was changed. f is called only the
// first time that this happens. If a kept program cannot be used, the engine compiles the graph again.
func OnRefusal(f func(error)) {
	told.Store(false)
	refused.Store(&f)
}

// tell calls the function that was passed to [OnRefusal], with the error err. If that function has been called before,
// tell does nothing.
func tell(err error) {
	if f := refused.Load(); f != nil && *f != nil && !told.Swap(true) {
		(*f)(err)
	}
}

// maxPrograms is the largest size of the folder of kept programs, in bytes. One program takes 0.1 to 5 MB.
const maxPrograms = 512 << 20

// programs is the path of a folder of kept programs, or empty if programs are not kept. Each program is a file. The
// name of the file is a hash of everything that the program depends on; see [programName]. Several processes may use
// the folder at the same time, since a new file becomes visible only when it is complete. If the folder cannot be used,
// each program is compiled each time that it is needed.
//
// A program is machine code that runs with the user's rights, so that a file from somebody else could do harm.
// Therefore kept programs are used only if no other user has access to the folder and its files. Besides, each file
// begins with an HMAC (a message authentication code). The HMAC is computed from the file's name, the program and the
// folder's secret key ([programs.key]). A file that was changed, renamed or made by somebody without the key does not
// have the right HMAC. Its program is never passed to the engine.
type programs string

// programsDir returns the folder of kept programs. This is the folder that the environment variable REVGNN_PROGRAMS
// names. If the variable is not set, it is the folder revgnn/programs in the user's cache folder. If programs are not
// kept, programsDir returns "".
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

// layout is a name for the format of the files of kept programs. The name of each file is a hash that also depends on
// layout. If the format changes, layout must change, too: then files in the old format are not found any more.
const layout = "hmac"

// programName returns the file name of a kept program: a hash of its arguments. The arguments are everything that the
// program depends on.
func programName(parts ...[]byte) string {
	hash := sha256.New()
	for _, p := range append(parts, []byte(layout)) {
		sum := sha256.Sum256(p)
		hash.Write(sum[:])
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// sum returns the HMAC (message authentication code) of a program and the name of its file, computed with a secret key.
func sum(key []byte, name string, program []byte) []byte {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%d %s\n", len(name), name)
	mac.Write(program)
	return mac.Sum(nil)
}

// load returns the kept program with the given file name. It returns nil if there is no file of this name, or if the
// file is refused (see [OnRefusal]).
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

// notKept returns an error which says that the folder of kept programs cannot be used. The argument err is the reason.
func notKept(err error) error {
	return fmt.Errorf("compiled programs are neither kept nor used: %w; or name another folder, or off, by %s", err,
		Programs)
}

// store writes a program to the folder. The argument most is the largest number of bytes that all programs in the
// folder may take. If they then take more, store removes some of them (see [programs.shrink]).
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

// shrink removes programs from the folder if they take more bytes than the argument most. It begins with the program
// that has not been used for the longest time, and stops when the other programs take at most this number of bytes.
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
