// Package files writes files as a whole or not at all, reads only regular files, since reading a pipe or a device may
// never end, and locks file names among processes.
package files

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Write writes a file under a temporary name beside path, and renames it once it is complete and on disk: the file at
// path is either the old one or the new one. It also removes temporary files of path that killed processes have left.
// The folder must exist, and path must not be anything but a regular file, such as a device.
func Write(path string, write func(io.Writer) error) error { return whole(path, 0o666, write) }

// WriteText is [Write] with a content that is in memory.
func WriteText[T ~string | ~[]byte](path string, content T) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write([]byte(content))
		return err
	})
}

// WriteJSON is [Write] with v as indented JSON, a line end after it.
func WriteJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s cannot be written as JSON: %w", path, err)
	}
	return WriteText(path, append(text, '\n'))
}

// WritePrivate is [Write] of a file that only its owner may read and write.
func WritePrivate(path string, write func(io.Writer) error) error { return whole(path, private, write) }

// WriteSealed is [Write] of a file that ends with the SHA-256 of its content ([OpenSealed]).
func WriteSealed(path string, write func(io.Writer) error) error {
	return Write(path, func(to io.Writer) error {
		sum := sha256.New()
		w := bufio.NewWriter(io.MultiWriter(to, sum))
		if err := errors.Join(write(w), w.Flush()); err != nil {
			return err
		}
		_, err := to.Write(sum.Sum(nil))
		return err
	})
}

const private fs.FileMode = 0o600

func whole(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // replace the file that a link points to, not the link
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("cannot write %s: it is not a regular file; choose another name", path)
	}
	removeParts(path)
	part, lock, err := newPart(path)
	if err != nil {
		return unwritable(path, err)
	}
	defer lock.Release()
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return unwritable(path, err)
	}
	defer func() {
		f.Close() // does nothing if the file was closed below
		if err != nil {
			os.Remove(part)
			err = unwritable(path, err)
		}
	}()
	if mode == private { // newPart has created the file, readable by all users
		err = f.Chmod(mode)
	}
	for _, step := range []func() error{func() error { return write(f) }, f.Sync, f.Close,
		func() error { return os.Rename(part, path) }} {
		if err == nil {
			err = step()
		}
	}
	return err
}

// Writable returns an error unless files can be created in a folder, which it makes if it is missing. Call it before a
// long computation whose results are to be written there.
func Writable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return unwritable(dir, err)
	}
	probe := filepath.Join(dir, "writable")
	removeParts(probe)
	_, lock, err := newPart(probe)
	if err != nil {
		return unwritable(dir, err)
	}
	lock.Release()
	return nil
}

func unwritable(path string, err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) { // which names the temporary file, and users do not know it
		err = cause.Err
	}
	return fmt.Errorf("cannot write %s: %w; choose another place, or make room there", path, err)
}

// A part is the temporary file of a file that is being written. Its writer locks it, so that one without a lock was
// left by a killed process.
const partSuffix = ".part"

func partPrefix(path string) string { return "." + filepath.Base(path) + "." }

// newPart creates a part of path under a new name, and locks it.
func newPart(path string) (part string, lock *Lock, err error) {
	for lock == nil && err == nil { // repeats if another writer has the same random name
		part = filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%08x%s", partPrefix(path), rand.Uint32(), partSuffix))
		lock, err = TryLock(part)
	}
	return part, lock, err
}

// removeParts removes what it can of the parts of path that killed processes have left.
func removeParts(path string) {
	dir := filepath.Dir(path)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		random, ours := strings.CutPrefix(e.Name(), partPrefix(path))
		if !ours || !strings.HasSuffix(random, partSuffix) || len(random) != 8+len(partSuffix) {
			continue
		}
		if left, err := tryLock(filepath.Join(dir, e.Name()), 0); err == nil {
			left.Release()
		}
	}
}
