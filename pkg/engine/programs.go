package engine

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
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

// Programs names the environment variable with the folder of kept programs, or "off".
const Programs = "REVGNN_PROGRAMS"

var refused atomic.Pointer[func(error)] // nil once it was told

// OnRefusal sets a function that is told once why kept programs cannot be used, for example since others have access to
// the folder. The graph is then compiled again.
func OnRefusal(f func(error)) { refused.Store(&f) }

func tell(err error) {
	if f := refused.Swap(nil); f != nil && *f != nil {
		(*f)(err)
	}
}

// maxPrograms is the most bytes that the folder may take; a program takes 0.1 to 5 MB.
const maxPrograms = 512 << 20

// programs is a folder of kept programs, or "" if none are kept. A file's name is a hash of all that the program
// depends on ([programName]); processes may share the folder, since files appear when they are complete.
//
// A program is machine code with the user's rights. So it is used only if no other user has access to folder and file,
// and if its HMAC, by the folder's secret key, fits: a file that was changed, renamed or made without the key is never
// passed to the engine.
type programs string

// programsDir is the folder that REVGNN_PROGRAMS names, or revgnn/programs in the user's cache folder.
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

// layout names the files' format, and is part of their names, so that old ones are not found.
const layout = "hmac"

// programName is a hash of all that a program depends on.
func programName(parts ...[]byte) string {
	hash := sha256.New()
	for _, p := range append(parts, []byte(layout)) {
		sum := sha256.Sum256(p)
		hash.Write(sum[:])
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func sum(key []byte, name string, program []byte) []byte {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%d %s\n", len(name), name)
	mac.Write(program)
	return mac.Sum(nil)
}

// load returns a kept program, or nil if it is not there or refused ([OnRefusal]).
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

func notKept(err error) error {
	return fmt.Errorf("compiled programs are neither kept nor used: %w; or name another folder, or off, by %s", err,
		Programs)
}

// store writes a program, and makes space if all then take more than most bytes.
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

// shrink removes the programs that were used longest ago until the others take at most so many bytes.
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

const (
	keyFile = "key"
	keySize = 32
)

// key is the folder's secret key, made if there is none; an error if others have access to folder or key.
func (dir programs) key() ([]byte, error) {
	info, err := os.Stat(string(dir))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", dir)
	}
	if err := files.Private(string(dir), info); err != nil {
		return nil, err
	}
	path := filepath.Join(string(dir), keyFile)
	key, err := files.ReadPrivate(path, "the key of compiled programs", keySize)
	if err == nil && len(key) != keySize {
		err = os.Remove(path) // A new key is made. The programs kept so far do not fit the new key, and are refused.
		key = nil
	}
	if key == nil && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		if err = dir.makeKey(path); err == nil {
			key, err = files.ReadPrivate(path, "the key of compiled programs", keySize)
		}
	}
	return key, err
}

// makeKey writes a key to a temporary file and links it to path: of two processes the first wins, since a link replaces
// no file.
func (dir programs) makeKey(path string) error {
	f, err := os.CreateTemp(string(dir), ".key.*.part") // The file has mode 0600.
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	key := make([]byte, keySize)
	rand.Read(key) // rand.Read never fails.
	_, err = f.Write(key)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return os.Rename(f.Name(), path) // The file system has no hard links.
	}
	return nil
}
