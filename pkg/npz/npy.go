package npz

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Limits on what an array file may claim. They are far above every dataset here and far below what would exhaust a
// laptop's memory, so that a damaged or hostile file ends in an error and not in an allocation.
const (
	maxArrayBytes  = 1 << 31 // of one array, as stored
	maxArrayValues = 1 << 28
	maxHeaderBytes = 1 << 16
	maxDims        = 4
	maxDim         = math.MaxInt32
)

// checkShape returns the number of bytes that shape needs, or an error if that is beyond the limits.
func checkShape(shape []int64, size int) (int64, error) {
	if len(shape) > maxDims {
		return 0, fmt.Errorf("has %d dimensions, at most %d are supported", len(shape), maxDims)
	}
	total := int64(1)
	for _, d := range shape {
		if d < 0 || d > maxDim {
			return 0, fmt.Errorf("claims the shape %v, but dimensions must lie between 0 and %d", shape, maxDim)
		}
		// Both factors are below 2^31 whenever the loop goes on, so the product fits int64.
		if total *= d; total > maxArrayValues {
			return 0, fmt.Errorf("claims the shape %v, more than the limit of %d values", shape, maxArrayValues)
		}
	}
	return total * int64(size), nil
}

// parseDescr reads a NumPy type string such as "<f4", "|b1" or ">i8".
func parseDescr(s string) (a Array, err error) {
	unsupported := fmt.Errorf("has the type %q; supported are bool, int8 to int64, uint8 to uint64, float32 and float64", cut(s))
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

// readNPY reads one array in NumPy's .npy format, versions 1 to 3 (numpy.lib.format). size is the number of bytes that r
// holds, and an upper limit of what is allocated.
func readNPY(r io.Reader, size int64) (*Array, error) {
	var fixed [12]byte
	if _, err := io.ReadFull(r, fixed[:10]); err != nil || string(fixed[:6]) != "\x93NUMPY" {
		return nil, fmt.Errorf("is not in NumPy's npy format")
	}
	headerLen, prefix := int64(binary.LittleEndian.Uint16(fixed[8:])), int64(10)
	switch fixed[6] {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, fixed[10:]); err != nil {
			return nil, fmt.Errorf("ends within its header")
		}
		headerLen, prefix = int64(binary.LittleEndian.Uint32(fixed[8:])), 12
	default:
		return nil, fmt.Errorf("has npy version %d, supported are 1 to 3", fixed[6])
	}
	if headerLen > maxHeaderBytes || prefix+headerLen > size {
		return nil, fmt.Errorf("claims a header of %d bytes, which is too long", headerLen)
	}
	header := make([]byte, headerLen)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, fmt.Errorf("ends within its header")
	}
	a, shape, err := parseHeader(string(header))
	if err != nil {
		return nil, err
	}
	want, err := checkShape(shape, a.size)
	if err != nil {
		return nil, err
	}
	if have := size - prefix - headerLen; want != have {
		return nil, fmt.Errorf("claims the shape %v, %d bytes, but holds %d", shape, want, have)
	}
	a.data = make([]byte, want)
	if _, err := io.ReadFull(r, a.data); err != nil {
		return nil, fmt.Errorf("ends early or is damaged (%w)", err)
	}
	// Reading past the end makes archive/zip compare the checksum.
	if n, err := io.ReadFull(r, fixed[:1]); n != 0 || err != io.EOF {
		return nil, fmt.Errorf("is damaged (%v)", err)
	}
	a.setShape(shape)
	return a, nil
}

// parseHeader reads the Python dictionary in an npy header: descr, fortran_order and shape, nothing else.
func parseHeader(s string) (*Array, []int64, error) {
	damaged := func(what string) (*Array, []int64, error) {
		return nil, nil, fmt.Errorf("has a damaged header (%s)", what)
	}
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != '{' || s[len(s)-1] != '}' {
		return damaged("not a dictionary")
	}
	s = strings.TrimSpace(s[1 : len(s)-1])
	var (
		a       Array
		fortran bool
		shape   []int64
		seen    = map[string]bool{}
		err     error
	)
	for s != "" {
		var key, value string
		if key, s, err = quoted(s); err != nil {
			return damaged(err.Error())
		}
		if seen[key] {
			return damaged(fmt.Sprintf("%q twice", key))
		}
		seen[key] = true
		if !strings.HasPrefix(s, ":") {
			return damaged("no colon after a key")
		}
		s = strings.TrimSpace(s[1:])
		switch key {
		case "descr":
			if value, s, err = quoted(s); err != nil {
				return nil, nil, fmt.Errorf("has a structured or damaged type; supported are plain numbers and bool")
			}
			if a, err = parseDescr(value); err != nil {
				return nil, nil, err
			}
		case "fortran_order":
			rest, yes := strings.CutPrefix(s, "True")
			rest2, no := strings.CutPrefix(s, "False")
			if !yes && !no {
				return damaged("fortran_order is neither True nor False")
			}
			if fortran = yes; no {
				rest = rest2
			}
			s = rest
		case "shape":
			if shape, s, err = parseTuple(s); err != nil {
				return damaged(err.Error())
			}
		default:
			return damaged(fmt.Sprintf("unknown key %q", cut(key)))
		}
		s = strings.TrimSpace(s)
		if rest, ok := strings.CutPrefix(s, ","); ok {
			s = strings.TrimSpace(rest)
		} else if s != "" {
			return damaged("no comma between entries")
		}
	}
	if len(seen) != 3 {
		return damaged("descr, fortran_order or shape is missing")
	}
	a.fortran = fortran
	return &a, shape, nil
}

// quoted splits a leading Python string without escapes from s.
func quoted(s string) (value, rest string, err error) {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return "", s, fmt.Errorf("a quoted string is missing")
	}
	end := strings.IndexByte(s[1:], s[0])
	if end < 0 || strings.Contains(s[1:1+end], `\`) {
		return "", s, fmt.Errorf("a string does not end")
	}
	return s[1 : 1+end], strings.TrimSpace(s[end+2:]), nil
}

// parseTuple splits a leading tuple of integers from s, for example "(10, 890)", "(5,)" or "()". A trailing L, which
// Python 2 writes, is allowed.
func parseTuple(s string) (shape []int64, rest string, err error) {
	end := strings.IndexByte(s, ')')
	if !strings.HasPrefix(s, "(") || end < 0 {
		return nil, s, fmt.Errorf("the shape is not a tuple")
	}
	fields := strings.Split(s[1:end], ",")
	for i, f := range fields {
		f = strings.TrimSuffix(strings.TrimSpace(f), "L")
		if f == "" && i == len(fields)-1 {
			break
		}
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, s, fmt.Errorf("the shape holds %q, not a number", cut(f))
		}
		if shape = append(shape, n); len(shape) > maxDims {
			return nil, s, fmt.Errorf("the shape has more than %d dimensions", maxDims)
		}
	}
	return shape, s[end+1:], nil
}

// cut shortens text for an error message.
func cut(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
