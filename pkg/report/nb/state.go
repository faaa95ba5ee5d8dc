package nb

import (
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/revgnn/revgnn/pkg/files"
)

// Must returns v, or panics with err, so that the cell fails with its message.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Check panics with the first error.
func Check(errs ...error) {
	for _, err := range errs {
		if err != nil {
			panic(err)
		}
	}
}

// Save stores a copy of v under a name, for later cells of the kernel, without unexported fields. It panics if that
// fails.
func Save(name string, v any) {
	err := files.WriteSealed(file(name), func(w io.Writer) error { return gob.NewEncoder(w).Encode(v) })
	if err != nil {
		panic(fmt.Errorf("nb: saving %q: %w", name, err))
	}
}

// Load returns what [Save] stored. It panics if there is nothing, or nothing of type T.
func Load[T any](name string) T {
	f, err := files.OpenSealed(file(name), "what a cell saved")
	if errors.Is(err, fs.ErrNotExist) {
		panic(fmt.Errorf("nb: nothing is saved as %q: run the cell that saves it first", name))
	} else if err != nil {
		panic(fmt.Errorf("nb: loading %q: %w; run the cell that saves it again", name, err))
	}
	defer f.Close()
	var v T
	if err := gob.NewDecoder(f).Decode(&v); err != nil {
		panic(fmt.Errorf("nb: loading %q: %w", name, err))
	}
	return v
}

// Folder is the kernel's temporary folder, removed when the kernel ends; "" outside a notebook.
func Folder() string { return os.Getenv(protocol.GONB_TMP_DIR_ENV) }

func file(name string) string {
	return filepath.Join(cmp.Or(Folder(), os.TempDir()), "saved-"+filepath.Base(name)+".gob")
}
