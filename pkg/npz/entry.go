package npz

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
)

// maxDeflateRatio is the most that deflate can compress (RFC 1951: 258 bytes in two bits).
const maxDeflateRatio = 1032

// checkEntry refuses impossible sizes and unknown compression.
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

// sameName compares an entry's name in the archive's directory with that before its data. No checksum covers them, and
// an optional array with a damaged name would seem to be absent.
func sameName(r io.ReaderAt, f *zip.File) bool {
	// A zip header has a signature, other fields, the length of the name, the length of the extra field, the name, and
	// the extra field, in this order. Only the position of the header's end is known. To find its beginning, the loop
	// below tries all lengths of the extra field up to 1 KiB.
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
