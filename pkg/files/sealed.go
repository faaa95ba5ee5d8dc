package files

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
)

// WriteSealed does the same as [Write], and appends the SHA-256 of the content to the file.
func WriteSealed(path string, write func(io.Writer) error) error {
	return Write(path, func(to io.Writer) error {
		sum := sha256.New()
		w := bufio.NewWriter(io.MultiWriter(to, sum))
		if err := errors.Join(write(w), w.Flush()); err != nil {
			return err
		}
		_, err := to.Write(sum.Sum(nil))
		return err
	})
}

// Sealed is the content of a file that [WriteSealed] wrote, without the checksum.
type Sealed struct {
	*io.SectionReader
	file *os.File
}

// Close closes the file.
func (s *Sealed) Close() error { return s.file.Close() }

// DamageError says how a sealed file is damaged. The message does not name the file.
type DamageError struct{ what string }

func (e *DamageError) Error() string { return e.what }

// OpenSealed opens a file that [WriteSealed] wrote; the arguments are those of [Open]. If the file has changed since it
// was written, the error is a [DamageError].
func OpenSealed(path, wanted string) (*Sealed, error) {
	f, size, err := Open(path, wanted)
	if err != nil {
		return nil, err
	}
	s := &Sealed{io.NewSectionReader(f, 0, max(0, size-sha256.Size)), f}
	if err := s.check(size); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// check returns a [DamageError] if the checksum at the end of the file is not the checksum of the content. The argument
// size is the size of the file.
func (s *Sealed) check(size int64) error {
	if size < sha256.Size {
		return &DamageError{"it is cut short"}
	}
	sum, kept := sha256.New(), make([]byte, sha256.Size)
	if _, err := io.Copy(sum, io.NewSectionReader(s, 0, s.Size())); err != nil {
		return err
	}
	if _, err := s.file.ReadAt(kept, s.Size()); err != nil && err != io.EOF {
		return err
	}
	if !bytes.Equal(kept, sum.Sum(nil)) {
		return &DamageError{"its checksum is wrong"}
	}
	return nil
}
