// Package files writes files as a whole or not at all. It reads only regular files, since reading a pipe or a device
// may never end, or fill the memory. The package can also lock a file name. Only one process at a time can hold the
// lock on a name, and the lock ends when the process ends.
//
// A sealed file ends with a checksum of its content. A part is the temporary file that is written before it gets its
// final name.
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
// Whatever happens, the file at path is therefore either the old one or the new one. Write also removes temporary files
// of the same path that killed processes have left. The folder must exist. If path is something other than a regular
// file, such as a device, Write returns an error.
func Write(path string, write func(io.Writer) error) error { return whole(path, 0o666, write) }

// WriteText does the same as [Write] with a content that is in memory.
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

// Writable returns an error unless files can be created in a folder. It creates the folder if it is missing. It should
// be called before a long computation, which would be lost if its results could not be written in the end.
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
	// The error names the temporary file, which the user does not know. Therefore only the error's cause is shown.
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return fmt.Errorf("cannot write %s: %w; choose another place, or make room there", path, err)
}
