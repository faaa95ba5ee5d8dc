package datasets

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
)

// errMissing is wrapped by all errors about a file that does not exist.
var errMissing = errors.New("is missing")

// Verify compares the files of a dataset with the manifest by size and SHA-256; where that was reported by others, the
// Git blob ID in the manifest counts as well. The error names the first wrong file.
func Verify(name string, opts Options) error {
	info, err := Info(name)
	if err != nil {
		return err
	}
	dir, err := Dir(opts.Dir)
	if err != nil {
		return err
	}
	for _, f := range info.All() {
		if err := verifyFile(filepath.Join(dir, f.Name), f); err != nil {
			return fmt.Errorf("dataset %s: %w; fetch it with `revgnn datasets get %s`", name, err, name)
		}
	}
	return nil
}

// verifyFile compares size and checksum; it reads the whole file.
func verifyFile(path string, want data.File) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s %w", path, errMissing)
	case err != nil:
		return fmt.Errorf("cannot look at the file: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case info.Size() != want.Bytes:
		return fmt.Errorf("%s has %d bytes instead of %d", path, info.Size(), want.Bytes)
	}
	f, _, err := files.Open(path, "the published file")
	if err != nil {
		return err
	}
	defer f.Close()
	sum, blob := sha256.New(), sha1.New()
	fmt.Fprintf(blob, "blob %d\x00", want.Bytes)
	into := io.Writer(sum)
	if want.SHA256SecondHand {
		into = io.MultiWriter(sum, blob)
	}
	if _, err := io.Copy(into, io.LimitReader(f, want.Bytes)); err != nil {
		return fmt.Errorf("cannot read the file: %w", err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 {
		if want.SHA256SecondHand && hex.EncodeToString(blob.Sum(nil)) == want.GitBlob {
			return nil
		}
		return fmt.Errorf("%s has the SHA-256 %s instead of %s", path, got, want.SHA256)
	}
	return nil
}

// verified are files that this process has found right, by [fileState].
var verified sync.Map // keys: fileState; values: true

type fileState struct {
	path string
	size int64
	time time.Time
	want string
}

// verifyOnce is [verifyFile], but reads a right file again only after its size or time has changed.
func verifyOnce(path string, want data.File) error {
	var state fileState
	if info, err := os.Stat(path); err == nil {
		state = fileState{path, info.Size(), info.ModTime(), want.SHA256}
		if _, ok := verified.Load(state); ok {
			return nil
		}
	}
	if err := verifyFile(path, want); err != nil {
		return err
	}
	verified.Store(state, true)
	return nil
}

// Absent says in a few words why a dataset cannot be used from the folder dir: "not here", or which file is damaged; ""
// if nothing is wrong. It compares only the sizes of files, and leaves out that with the directions of edges, which
// most models do not need.
func Absent(name, dir string) (why string) {
	info, err := Info(name)
	if err != nil {
		return "not known"
	}
	for _, f := range info.Files {
		found, err := os.Stat(filepath.Join(dir, f.Name))
		switch {
		case err != nil:
			return "not here"
		case found.Size() != f.Bytes:
			return fmt.Sprintf("damaged (%s has %d bytes instead of %d; `revgnn datasets get %s` replaces it)", f.Name,
				found.Size(), f.Bytes, name)
		}
	}
	return ""
}
