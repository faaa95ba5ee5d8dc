package npz

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
)

// maxDeflateRatio is the largest factor by which deflate can shrink data (RFC 1951: a 258-byte match in two bits). A
// zip entry that claims more is damaged or hostile.
const maxDeflateRatio = 1032

// checkEntry returns an error where the archive's directory claims something impossible of an array.
func (z *File) checkEntry(entry *zip.File) error {
	size := entry.UncompressedSize64
	if entry.CompressedSize64 > uint64(z.size) {
		return fmt.Errorf("claims more bytes than the archive has; the archive is cut short or damaged")
	}
	if size > maxArrayBytes+maxHeaderBytes {
		return fmt.Errorf("claims %d bytes, more than the limit of %d", size, int64(maxArrayBytes))
	}
	switch entry.Method {
	case zip.Store:
		if size != entry.CompressedSize64 {
			return fmt.Errorf("has two different sizes in the archive's directory; the archive is damaged")
		}
	case zip.Deflate:
		if size/maxDeflateRatio > entry.CompressedSize64 {
			return fmt.Errorf("claims %d bytes from %d packed ones; the archive is damaged",
				size, entry.CompressedSize64)
		}
	default:
		return fmt.Errorf("is packed by method %d; supported are numpy.savez and numpy.savez_compressed",
			entry.Method)
	}
	return nil
}

// sameName tells whether the header before an entry's data has the same name as the archive's directory. No checksum
// covers the names, and an array under a wrong name might not be missed.
func sameName(r io.ReaderAt, f *zip.File) bool {
	// A signature, other fields, the lengths of the name and of the extra field, then the name and the extra field.
	const signature, lengths, fixed, mostExtra = "PK\x03\x04", 26, 30, 1 << 10
	at, err := f.DataOffset()
	if err != nil {
		return false
	}
	before := make([]byte, min(at, int64(fixed+len(f.Name)+mostExtra)))
	if _, err := r.ReadAt(before, at-int64(len(before))); err != nil && err != io.EOF {
		return false
	}
	for extra := range len(before) - fixed - len(f.Name) + 1 {
		h := before[len(before)-fixed-len(f.Name)-extra:]
		if string(h[:len(signature)]) == signature && int(binary.LittleEndian.Uint16(h[lengths+2:])) == extra {
			return string(h[fixed:fixed+len(f.Name)]) == f.Name
		}
	}
	return false
}
