package npz

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// These are limits on the sizes that a header may claim. A file that claims more is refused, so that a header with
// false sizes cannot fill the memory. The limits are far above the sizes of revgnn's datasets.
const (
	maxArrayBytes  = 1 << 31 // the largest size of one array in its .npy file, in bytes
	maxArrayValues = 1 << 28
	maxHeaderBytes = 1 << 16
	maxDims        = 4
	maxDim         = math.MaxInt32
)

// checkShape returns the number of bytes that an array of the given shape takes, if each value takes size bytes. It
// returns an error if a dimension is negative, or if the shape exceeds maxDims, maxDim or maxArrayValues.
func checkShape(shape []int64, size int) (int64, error) {
	if len(shape) > maxDims {
		return 0, fmt.Errorf("has %d dimensions, at most %d are supported", len(shape), maxDims)
	}
	total := int64(1)
	for _, d := range shape {
		if d < 0 || d > maxDim {
			return 0, fmt.Errorf("claims the shape %v, but dimensions must lie between 0 and %d", shape, maxDim)
		}
		// The product fits int64, since both factors are below 2^31.
		if total *= d; total > maxArrayValues {
			return 0, fmt.Errorf("claims the shape %v, more than the limit of %d values", shape, maxArrayValues)
		}
	}
	return total * int64(size), nil
}

// parseDescr reads NumPy's name for a type, such as "<f4", "|b1" or ">i8". It returns an array of
// this type. The array's shape and values are not set yet.
func parseDescr(s string) (a Array, err error) {
	unsupported := fmt.Errorf("has the type %q; supported are bool, int8 to int64, uint8 to uint64, "+
		"float32 and float64", cut(s))
	if len(s) != 3 {
		return a, unsupported
	}
	switch s[0] {
	case '<', '|', '=':
		a.order = binary.LittleEndian
	case '>':
		a.order = binary.BigEndian
	default:
		return a, unsupported
	}
	a.kind, a.size = s[1], int(s[2]-'0')
	switch s[1:] {
	case "b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8":
		return a, nil
	}
	return a, unsupported
}

// arrayReader reads the values of an .npy file whose header was read before. The field array has the type and shape
// from the header. The field rest reads the values, and bytes is the number of bytes that they take.
type arrayReader struct {
	array *Array
	bytes int64
	rest  io.Reader
}

// newArrayReader reads the header of an .npy file, and checks that the rest of the file is as long as the header
// claims. r reads the file; size is the file's number of bytes.
func newArrayReader(r io.Reader, size int64) (*arrayReader, error) {
	header, rest, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	a, shape, err := parseHeader(header)
	if err != nil {
		return nil, err
	}
	want, err := checkShape(shape, a.size)
	if err != nil {
		return nil, err
	}
	if want != rest {
		return nil, fmt.Errorf("claims the shape %v, %d bytes, but holds %d", shape, want, rest)
	}
	a.setShape(shape)
	return &arrayReader{a, want, r}, nil
}

// read reads the values.
func (r *arrayReader) read() error {
	r.array.data = make([]byte, r.bytes)
	if _, err := io.ReadFull(r.rest, r.array.data); err != nil {
		return fmt.Errorf("ends early or is damaged (%w)", err)
	}
	// Read beyond the last value, and expect the end of the entry. The package archive/zip compares the entry's
	// checksum only when a read reaches the entry's end.
	var more [1]byte
	if n, err := io.ReadFull(r.rest, more[:]); n != 0 || err != io.EOF {
		return fmt.Errorf("is damaged (%v)", err)
	}
	return nil
}

// readHeader reads the part of an .npy file before the values: the bytes "\x93NUMPY" that begin each such file, the
// version of the format, the header's length, and the header. r reads the file; size is the file's number of bytes. The
// result rest is the number of bytes after the header.
func readHeader(r io.Reader, size int64) (header string, rest int64, err error) {
	var fixed [12]byte
	if _, err := io.ReadFull(r, fixed[:10]); err != nil || string(fixed[:6]) != "\x93NUMPY" {
		return "", 0, fmt.Errorf("is not in NumPy's npy format")
	}
	length, prefix := int64(binary.LittleEndian.Uint16(fixed[8:])), int64(10)
	switch fixed[6] {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, fixed[10:]); err != nil {
			return "", 0, fmt.Errorf("ends within its header")
		}
		length, prefix = int64(binary.LittleEndian.Uint32(fixed[8:])), 12
	default:
		return "", 0, fmt.Errorf("has npy version %d, supported are 1 to 3", fixed[6])
	}
	if length > maxHeaderBytes || prefix+length > size {
		return "", 0, fmt.Errorf("claims a header of %d bytes, which is too long", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", 0, fmt.Errorf("ends within its header")
	}
	return string(text), size - prefix - length, nil
}
