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

// keyFile is the file of the secret key beside the programs, keySize its bytes.
const (
	keyFile = "key"
	keySize = 32
)

// key returns the folder's secret key, which it makes where there is none. The folder and the key must be the user's
// alone.
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
		err = os.Remove(path) // cut short: no program that was kept can be told from others
		key = nil
	}
	if key == nil && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		if err = dir.makeKey(path); err == nil {
			key, err = files.ReadPrivate(path, "the key of compiled programs", keySize)
		}
	}
	return key, err
}

// makeKey makes a key at path, unless another process has made one meanwhile: what is linked there is complete, and
// the first stays.
func (dir programs) makeKey(path string) error {
	f, err := os.CreateTemp(string(dir), ".key.*.part") // of mode 0600
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
		return os.Rename(f.Name(), path) // where there are no links
	}
	return nil
}
