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

// Each folder of kept programs has a secret key, which [programs] explains. keyFile is the name of the file with the
// key. keySize is the length of the key in bytes.
const (
	keyFile = "key"
	keySize = 32
)

// key returns the secret key of the folder of kept programs. If the folder has no key yet, key makes one. It returns an
// error if other users have access to the folder or to the file with the key.
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

// makeKey makes the secret key that [programs] describes, and stores it in a file at path. It first writes the key to a
// temporary file, and then makes path a hard link to the temporary file. Two processes may call makeKey at the same
// time. Then one of them makes its link first. The other process cannot make its link, since a hard link does not
// replace an existing file. So both processes use the key of the first process.
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
