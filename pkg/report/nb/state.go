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

// Must returns v, or panics with err, which fails the cell with that message.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Check panics with the first error, if there is one, which fails the cell with that message.
func Check(errs ...error) {
	for _, err := range errs {
		if err != nil {
			panic(err)
		}
	}
}

// Save keeps v under a name for later cells of the same kernel: each cell is a program of its own. What v points to is
// copied; unexported fields are not. It panics where v can't be stored.
func Save(name string, v any) {
	err := files.WriteSealed(file(name), func(w io.Writer) error { return gob.NewEncoder(w).Encode(v) })
	if err != nil {
		panic(fmt.Errorf("nb: saving %q: %w", name, err))
	}
}

// Load returns what a cell saved under a name. It panics where there is no such thing, it is of another type, or it is
// not as it was saved.
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

// Folder is the kernel's own, which goes when the kernel ends; empty outside a notebook.
func Folder() string { return os.Getenv(protocol.GONB_TMP_DIR_ENV) }

// file lies in the kernel's folder; outside a notebook, in the system's.
func file(name string) string {
	return filepath.Join(cmp.Or(Folder(), os.TempDir()), "saved-"+filepath.Base(name)+".gob")
}
