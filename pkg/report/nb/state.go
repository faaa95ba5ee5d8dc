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

// Must returns v if err is nil. Otherwise it panics with err, so that the cell fails with the message of err.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Check panics with the first error that is not nil, if there is one. The cell then fails with the message of this
// error.
func Check(errs ...error) {
	for _, err := range errs {
		if err != nil {
			panic(err)
		}
	}
}

// Save stores a copy of v under a name, for later cells of the same kernel. The copy includes the values that v points
// to, but no unexported fields. Save panics if v cannot be stored.
func Save(name string, v any) {
	err := files.WriteSealed(file(name), func(w io.Writer) error { return gob.NewEncoder(w).Encode(v) })
	if err != nil {
		panic(fmt.Errorf("nb: saving %q: %w", name, err))
	}
}

// Load returns the value that [Save] stored under the given name. It panics if no value was stored, if the value does
// not fit the type T, or if the file is damaged.
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

// Folder returns the path of the kernel's temporary folder. This folder is removed when the kernel ends. Outside a
// notebook, Folder returns "".
func Folder() string { return os.Getenv(protocol.GONB_TMP_DIR_ENV) }

// file returns the path of the file for a saved value. The file is in the folder of the kernel or, outside a notebook,
// in the system's folder for temporary files.
func file(name string) string {
	return filepath.Join(cmp.Or(Folder(), os.TempDir()), "saved-"+filepath.Base(name)+".gob")
}
