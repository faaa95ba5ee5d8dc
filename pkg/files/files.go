// Package files writes files as a whole or not at all. It reads only regular files, since a pipe or a device in place
// of a file may block, or fill the memory. It also has locks on names, which end with the process that holds them.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a file under a temporary name beside path, and renames it to path once it is complete and on disk.
// Whatever happens, path is therefore either the old file or the new one. Temporary files that killed processes have
// left are removed. The folder must exist. A path that is not a regular file, such as a device, is refused.
func Write(path string, write func(io.Writer) error) error { return whole(path, 0o666, write) }

// WriteText does the same as [Write] with content that is in memory.
func WriteText[T ~string | ~[]byte](path string, content T) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write([]byte(content))
		return err
	})
}

// WritePrivate does the same as [Write] for a file that only its owner may read and write.
func WritePrivate(path string, write func(io.Writer) error) error { return whole(path, private, write) }

// private is the mode of files that only their owner may read and write.
const private fs.FileMode = 0o600

func whole(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // the file that a link points to is replaced, not the link
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
	if err == nil && mode == private { // the lock has created the file, with a mode for all users
		err = f.Chmod(mode)
	}
	if err != nil {
		return unwritable(path, err)
	}
	defer func() {
		f.Close() // does nothing if the file was closed below
		if err != nil {
			os.Remove(part)
		}
	}()
	if err := write(f); err != nil {
		return unwritable(path, err)
	}
	if err := f.Sync(); err != nil {
		return unwritable(path, err)
	}
	if err := f.Close(); err != nil {
		return unwritable(path, err)
	}
	if err := os.Rename(part, path); err != nil {
		return unwritable(path, err)
	}
	return nil
}

// Writable returns an error unless files can be created in a folder. It creates the folder if it is missing. It is
// called before long work, so that the results can be written in the end.
func Writable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return unwritable(dir, err)
	}
	probe := filepath.Join(dir, "writable")
	removeParts(probe)
	part, lock, err := newPart(probe)
	if err != nil {
		return unwritable(dir, err)
	}
	defer lock.Release()
	f, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return unwritable(dir, err)
	}
	f.Close()
	return os.Remove(part)
}

func unwritable(path string, err error) error {
	// Only the cause is shown, since the error names the temporary file.
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return fmt.Errorf("cannot write %s: %w; choose another place, or make room there", path, err)
}
