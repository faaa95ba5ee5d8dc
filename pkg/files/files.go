// Package files writes files whole or not at all, and has claims on names that end with their process.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a file through a neighbour with another name, which takes the place of path once it is complete and on
// disk: whatever happens, path is the old file or the new one. Neighbours that killed processes have left are removed.
// The folder must exist. A path that is no regular file, such as a device, is refused.
func Write(path string, write func(io.Writer) error) (err error) {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // replace what a link points to, not the link
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
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return unwritable(path, err)
	}
	defer func() {
		f.Close() // a second time where all went well
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

// Writable tells whether files can be made in a folder, after creating it where it is missing: better known before
// hours of work than after.
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

// Open opens a regular file for reading and returns its size; wanted says in errors what to give: "an .npz file".
func Open(path, wanted string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot open the file: %w", err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = fmt.Errorf("cannot read the file: %w", err)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file; give %s", path, wanted)
	default:
		return f, info.Size(), nil
	}
	f.Close()
	return nil, 0, err
}

func unwritable(path string, err error) error {
	// The cause alone: the path that os names is the neighbour's.
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return fmt.Errorf("cannot write %s: %w; choose another place, or make room there", path, err)
}
