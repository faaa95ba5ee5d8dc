package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// sumKey is the key of the checksum in the metadata. The checksum is part of the file, and cannot depend on itself. It
// is therefore the SHA-256 of the file with 64 zeros in place of the checksum's own 64 digits.
const sumKey = "revgnn.sha256"

var noSum = strings.Repeat("0", 2*sha256.Size)

// withSum returns a header in which one checksum (old) is replaced by another one (sum).
func withSum(header []byte, old, sum string) []byte {
	const before = sumKey + `":"`
	return bytes.Replace(header, []byte(before+old), []byte(before+sum), 1)
}

// checkSum returns an error if the header has a checksum that is not the checksum of the file.
func (s *File) checkSum(header []byte) error {
	kept, has := s.Metadata[sumKey]
	if !has {
		return nil
	}
	sum := sha256.New()
	sum.Write(frame(withSum(header, kept, noSum)))
	if _, err := io.Copy(sum, io.NewSectionReader(s.data, 0, s.data.Size())); err != nil {
		return fmt.Errorf("its values cannot be read (%w)", err)
	}
	if kept != hex.EncodeToString(sum.Sum(nil)) {
		return errors.New("it is not as revgnn wrote it, by the checksum in its metadata; a program that changes " +
			"the file must leave out " + sumKey)
	}
	delete(s.Metadata, sumKey)
	s.Sealed = true
	return nil
}
