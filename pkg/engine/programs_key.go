package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/files"
)

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
