package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Open opens a regular file for reading, and returns its size. For anything else, the error says what to give instead:
// wanted, such as "an .npz file". It never blocks, as opening a named pipe may.
func Open(path, wanted string) (*os.File, int64, error) {
	// Opening a device may have effects, so the name is looked at first; another file may have it by then.
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

// Read returns the content of a regular file ([Open]) of at most limit bytes. It never reads much more, even if the
// file grows meanwhile.
func Read(path, wanted string, limit int64) ([]byte, error) { return read(path, wanted, limit, false) }

// ReadPrivate is [Read], but returns an error if other users may have access to the file ([Private]).
func ReadPrivate(path, wanted string, limit int64) ([]byte, error) {
	return read(path, wanted, limit, true)
}

func read(path, wanted string, limit int64, closed bool) ([]byte, error) {
	f, size, err := Open(path, wanted)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if closed {
		info, err := f.Stat() // describes the open file, even if another file has its name by now
		if err != nil {
			return nil, fmt.Errorf("cannot read the file: %w", err)
		}
		if err := Private(path, info); err != nil {
			return nil, err
		}
	}
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

// Strict parses a JSON text into v. A field that v does not have, and a second value, are errors.
func Strict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// Sealed is the content of a file that [WriteSealed] wrote, without the checksum.
type Sealed struct {
	*io.SectionReader
	file *os.File
}

func (s *Sealed) Close() error { return s.file.Close() }

// DamageError says how a sealed file is damaged, without its name.
type DamageError struct{ what string }

func (e *DamageError) Error() string { return e.what }

// OpenSealed opens a file that [WriteSealed] wrote, as [Open] does. If the file has changed since, the error is a
// [DamageError].
func OpenSealed(path, wanted string) (*Sealed, error) {
	f, size, err := Open(path, wanted)
	if err != nil {
		return nil, err
	}
	content := max(0, size-sha256.Size)
	sum, kept := sha256.New(), make([]byte, sha256.Size)
	_, err = io.Copy(sum, io.NewSectionReader(f, 0, content))
	if err == nil && size >= sha256.Size {
		_, err = f.ReadAt(kept, content)
	}
	switch {
	case err != nil && err != io.EOF:
	case size < sha256.Size:
		err = &DamageError{"it is cut short"}
	case !bytes.Equal(kept, sum.Sum(nil)):
		err = &DamageError{"its checksum is wrong"}
	default:
		return &Sealed{io.NewSectionReader(f, 0, content), f}, nil
	}
	f.Close()
	return nil, err
}

// Pieces limits the length of each piece of a file, such as a row of a table, for parsers that keep a whole piece in
// memory without a limit of their own. The caller calls Next after each piece.
type Pieces struct {
	in          io.Reader
	limit, left int
}

// NewPieces returns a reader of pieces of at most limit bytes, about: what a parser reads in advance counts, too.
func NewPieces(r io.Reader, limit int) *Pieces { return &Pieces{r, limit, limit} }

func (p *Pieces) Next() { p.left = p.limit }

func (p *Pieces) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, fmt.Errorf("a row is longer than %d KiB, the limit", p.limit>>10)
	}
	n, err := p.in.Read(b[:min(len(b), p.left)])
	p.left -= n
	return n, err
}
