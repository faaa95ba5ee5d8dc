package npz

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
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

// Array is a NumPy array as stored. Errors of its methods begin with a verb, so that its name can stand before.
type Array struct {
	Shape   []int
	kind    byte // 'b' bool, 'i' signed, 'u' unsigned, 'f' float, 'S' text of bytes
	size    int  // bytes per value
	count   int  // values
	order   binary.ByteOrder
	fortran bool
	data    []byte
}

// NewArray makes an array of raw bytes, which are not copied, of NumPy's type descr, such as "<f4".
func NewArray(descr string, fortran bool, shape []int64, raw []byte) (*Array, error) {
	a, err := newArray(descr, fortran, shape, int64(len(raw)))
	if err == nil {
		a.data = raw
	}
	return a, err
}

// newArray makes an array without values, for which so many bytes are there.
func newArray(descr string, fortran bool, shape []int64, bytes int64) (*Array, error) {
	a := &Array{fortran: fortran, order: binary.LittleEndian}
	switch kind := descr[min(1, len(descr)):]; kind {
	case "b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8":
		a.kind, a.size = kind[0], int(kind[1]-'0')
	default: // texts of bytes, such as "|S3"
		if n, err := strconv.ParseUint(strings.TrimPrefix(kind, "S"), 10, 8); err == nil && kind[0] == 'S' {
			a.kind, a.size = 'S', int(n)
		}
	}
	if a.size == 0 || !strings.Contains("<|=>", descr[:1]) {
		what := ""
		if strings.HasSuffix(descr, "O") {
			what = ", Python's objects"
		} else if strings.Contains(descr, "U") {
			what = ", texts"
		}
		return nil, fmt.Errorf("has the type %q%s; supported are bool, int8 to int64, uint8 to uint64, float32 and "+
			"float64: convert it by .astype, and save it again", cut(descr), what)
	}
	if descr[0] == '>' {
		a.order = binary.BigEndian
	}
	var err error
	if a.count, err = checkShape(shape); err != nil {
		return nil, err
	}
	if want := a.bytes(); want != bytes {
		return nil, fmt.Errorf("claims an array of the shape %v, %d bytes, but holds %d", shape, want, bytes)
	}
	a.Shape = make([]int, len(shape))
	for i, d := range shape {
		a.Shape[i] = int(d)
	}
	return a, nil
}

// checkShape returns the number of values of an array, or an error if a dimension is negative, or if the shape exceeds
// maxDims, maxDim or maxArrayValues.
func checkShape[T int | int64](shape []T) (int, error) {
	if len(shape) > maxDims {
		return 0, fmt.Errorf("has %d dimensions, at most %d are supported", len(shape), maxDims)
	}
	total := int64(1)
	for _, d := range shape {
		if d < 0 || d > maxDim {
			return 0, fmt.Errorf("claims the shape %v, but dimensions must lie between 0 and %d", shape, maxDim)
		}
		// The product fits int64, since both factors are below 2^31.
		if total *= int64(d); total > maxArrayValues {
			return 0, fmt.Errorf("claims the shape %v, more than the limit of %d values", shape, maxArrayValues)
		}
	}
	return int(total), nil
}

func (a *Array) bytes() int64 { return int64(a.count) * int64(a.size) }

// readHeader reads the part of an .npy file before the values: the bytes "\x93NUMPY", the version of the format, the
// header's length, and the header. The rest of the size bytes must be as many as the header claims.
func readHeader(r io.Reader, size int64) (*Array, error) {
	var fixed [12]byte
	if _, err := io.ReadFull(r, fixed[:10]); err != nil || string(fixed[:6]) != "\x93NUMPY" {
		return nil, fmt.Errorf("is not in NumPy's npy format")
	}
	length, prefix := int64(binary.LittleEndian.Uint16(fixed[8:])), int64(10)
	switch fixed[6] {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, fixed[10:]); err != nil {
			return nil, fmt.Errorf("ends within its header")
		}
		length, prefix = int64(binary.LittleEndian.Uint32(fixed[8:])), 12
	default:
		return nil, fmt.Errorf("has npy version %d, supported are 1 to 3", fixed[6])
	}
	if length > maxHeaderBytes || prefix+length > size {
		return nil, fmt.Errorf("claims a header of %d bytes, which is too long", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, fmt.Errorf("ends within its header")
	}
	return parseHeader(string(text), size-prefix-length)
}

// headerItems are what a header holds, a Python dictionary: each with the comma or the brace after it.
var headerItems = [3]*regexp.Regexp{
	regexp.MustCompile(`['"]descr['"]\s*:\s*['"]([^'"\\]*)['"]\s*(?:,|\}\s*$)`),
	regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)\s*(?:,|\}\s*$)`),
	regexp.MustCompile(`['"]shape['"]\s*:\s*\(([^()]*)\)\s*(?:,|\}\s*$)`),
}

// parseHeader reads a header, after which so many bytes follow.
func parseHeader(text string, bytes int64) (*Array, error) {
	var items [3]string
	for i, item := range headerItems {
		found := item.FindStringSubmatch(text)
		if found == nil {
			return nil, fmt.Errorf("has a damaged header, or a structured type; supported are plain numbers and bool")
		}
		items[i], text = found[1], strings.Replace(text, found[0], "", 1)
	}
	if rest := strings.Join(strings.Fields(text), ""); rest != "{" && rest != "{}" {
		return nil, fmt.Errorf("has a damaged header (%q is not expected there)", cut(rest))
	}
	// A shape is a tuple such as "(10, 890)", "(5,)" or "()"; Python 2 writes long integers with an L.
	var shape []int64
	fields := strings.Split(items[2], ",")
	for i, f := range fields {
		f = strings.TrimSuffix(strings.TrimSpace(f), "L")
		if f == "" && i == len(fields)-1 {
			break
		}
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("has a damaged header (the shape holds %q, not a number)", cut(f))
		}
		if shape = append(shape, n); len(shape) > maxDims {
			return nil, fmt.Errorf("has a damaged header (the shape has more than %d dimensions)", maxDims)
		}
	}
	return newArray(items[0], items[1] == "True", shape, bytes)
}

// cut shortens text for an error message.
func cut(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// readValues reads the values, which must end the file.
func (a *Array) readValues(r io.Reader) error {
	a.data = make([]byte, a.bytes())
	if _, err := io.ReadFull(r, a.data); err != nil {
		return fmt.Errorf("ends early or is damaged (%w)", err)
	}
	// Read beyond the last value, and expect the end of the entry. The package archive/zip compares the entry's
	// checksum only when a read reaches the entry's end.
	var more [1]byte
	if n, err := io.ReadFull(r, more[:]); n != 0 || err != io.EOF {
		return fmt.Errorf("is damaged (%v)", err)
	}
	return nil
}

// convert returns the values in C order. Arrays in Fortran order may have two dimensions at most.
func convert[T any](a *Array, value func(b []byte) (T, error)) ([]T, error) {
	out := make([]T, a.count)
	rows, columns := 1, a.count
	if a.fortran && len(a.Shape) > 2 {
		return nil, fmt.Errorf("is in Fortran order with %d dimensions; save it in C order", len(a.Shape))
	} else if a.fortran && len(a.Shape) == 2 {
		rows, columns = a.Shape[0], a.Shape[1]
	}
	for i := range out {
		at := i%columns*rows + i/columns
		var err error
		if out[i], err = value(a.data[at*a.size : (at+1)*a.size]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// integer reads an integer or bool.
func (a *Array) integer(b []byte) (int64, error) {
	var u uint64
	switch a.size {
	case 1:
		u = uint64(b[0])
	case 2:
		u = uint64(a.order.Uint16(b))
	case 4:
		u = uint64(a.order.Uint32(b))
	case 8:
		u = a.order.Uint64(b)
	}
	if a.kind == 'i' {
		shift := 64 - 8*a.size
		return int64(u<<shift) >> shift, nil
	}
	if u > math.MaxInt64 {
		return 0, fmt.Errorf("holds a value above %d", int64(math.MaxInt64))
	}
	return int64(u), nil
}

// Float32s are in C order; values beyond float32 are infinite.
func (a *Array) Float32s() ([]float32, error) {
	if a.kind == 'S' {
		return nil, errText
	}
	return convert(a, a.float)
}

// float reads a number.
func (a *Array) float(b []byte) (float32, error) {
	switch {
	case a.kind != 'f':
		v, err := a.integer(b)
		return float32(v), err
	case a.size == 4:
		return math.Float32frombits(a.order.Uint32(b)), nil
	}
	return float32(math.Float64frombits(a.order.Uint64(b))), nil
}

var errText = errors.New("holds texts where numbers are needed")

// Int64s are in C order; floating-point values are refused.
func (a *Array) Int64s() ([]int64, error) {
	switch {
	case a.kind == 'S':
		return nil, errText
	case a.kind == 'f' && a.count > 0: // an empty array of NumPy has float64
		return nil, fmt.Errorf("holds floating-point values where whole numbers are needed")
	}
	return convert(a, a.integer)
}

// Bools are in C order; numbers 0 and 1 count.
func (a *Array) Bools() ([]bool, error) {
	if a.kind == 'S' {
		return nil, errText
	}
	return convert(a, func(b []byte) (bool, error) {
		v, err := a.float(b)
		if err == nil && v != 0 && v != 1 {
			err = fmt.Errorf("holds a value other than 0 and 1 where true and false are needed")
		}
		return v == 1, err
	})
}

// Text is that of an array with one text of bytes.
func (a *Array) Text() (string, error) {
	if a.kind != 'S' || a.count != 1 {
		return "", errors.New("holds no text, but one is needed")
	}
	return string(bytes.TrimRight(a.data, "\x00")), nil
}
