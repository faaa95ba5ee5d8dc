package files

import (
	"fmt"
	"io"
	"os"
)

// Open opens a regular file for reading, and also returns its size. If path is not a regular file, the error tells the
// user what to give instead: the text in wanted, such as "an .npz file". Open never blocks, whereas opening a named
// pipe usually waits for a writer.
func Open(path, wanted string) (*os.File, int64, error) {
	// The file must be regular. This is checked before the file is opened, since opening a device may have effects. It
	// is checked again afterwards, since another file may have taken the path in the meantime.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, 0, irregular(path, wanted)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot open the file: %w", err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = fmt.Errorf("cannot read the file: %w", err)
	case !info.Mode().IsRegular():
		err = irregular(path, wanted)
	default:
		return f, info.Size(), nil
	}
	f.Close()
	return nil, 0, err
}

func irregular(path, wanted string) error {
	return fmt.Errorf("%s is not a regular file; give %s", path, wanted)
}

// Read returns the content of a regular file; wanted is the same as in [Open]. If the file has more than limit bytes,
// Read returns an error. It never reads much more than limit bytes, even if the file grows meanwhile.
func Read(path, wanted string, limit int64) ([]byte, error) {
	f, size, err := Open(path, wanted)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, path, size, limit)
}

func read(f *os.File, path string, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than the limit of %d for such a file", path, size, limit)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the file: %w", err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes, the limit for such a file", path, limit)
	}
	return b, nil
}

// PrivacyError is the error for a file or folder to which other users may have access.
type PrivacyError struct{ text string }

func (e *PrivacyError) Error() string { return e.text }

// ReadPrivate does the same as [Read], but returns an error if other users may have access to the file: see [Private].
func ReadPrivate(path, wanted string, limit int64) ([]byte, error) {
	f, size, err := Open(path, wanted)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat() // describes the open file, even if another file has its name by now
	if err != nil {
		return nil, fmt.Errorf("cannot read the file: %w", err)
	}
	if err := Private(path, info); err != nil {
		return nil, err
	}
	return read(f, path, size, limit)
}
