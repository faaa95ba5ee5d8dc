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

// keyFile is the name of the file with the secret key, and keySize the length of the key in bytes.
const (
	keyFile = "key"
	keySize = 32
)

// key returns the folder's secret key, and makes one if there is none. It returns an error if other users have access
// to the folder or the key.
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
		err = os.Remove(path) // it was truncated; a new key is made, and the kept programs are refused
		key = nil
	}
	if key == nil && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		if err = dir.makeKey(path); err == nil {
			key, err = files.ReadPrivate(path, "the key of compiled programs", keySize)
		}
	}
	return key, err
}

// makeKey makes a key at path. The key is written to a temporary file first, which is then linked to path. If another
// process makes a key at the same time, the first link stays, and the other process cannot replace it.
func (dir programs) makeKey(path string) error {
	f, err := os.CreateTemp(string(dir), ".key.*.part") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	_, err = f.Write(key)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return os.Rename(f.Name(), path) // the file system has no hard links
	}
	return nil
}
