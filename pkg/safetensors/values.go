package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/files"
)

// Close closes the file.
func (s *File) Close() error { return s.close() }

// Names returns the names of the arrays in alphabetical order.
func (s *File) Names() []string { return slices.Sorted(maps.Keys(s.entries)) }

// Float32s returns the values of an array as float32 in C order, and the array's shape. The array must have the type
// F32, F64, F16 or BF16; otherwise Float32s returns an error. Values beyond the range of float32 become infinite.
func (s *File) Float32s(name string) ([]float32, []int, error) {
	e, ok := s.entries[name]
	if !ok {
		return nil, nil, fmt.Errorf("%s has no array %q", s.Path, cut(name))
	}
	convert := map[string]func([]byte) float32{
		"F32":  func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) },
		"F64":  func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) },
		"BF16": func(b []byte) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16) },
		"F16":  func(b []byte) float32 { return half(binary.LittleEndian.Uint16(b)) },
	}[e.Type]
	if convert == nil {
		return nil, nil, fmt.Errorf("%s: array %q has the type %s where F32, F64, F16 or BF16 is needed",
			s.Path, cut(name), e.Type)
	}
	raw := make([]byte, e.Offsets[1]-e.Offsets[0])
	if _, err := s.data.ReadAt(raw, e.Offsets[0]); err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("%s: array %q cannot be read: %w", s.Path, cut(name), err)
	}
	size := int(sizes[e.Type])
	out := make([]float32, len(raw)/size)
	for i := range out {
		out[i] = convert(raw[i*size:])
	}
	shape := make([]int, len(e.Shape))
	for i, d := range e.Shape {
		shape[i] = int(d)
	}
	return out, shape, nil
}

// half converts a number of IEEE 754 half precision to float32. Numbers of half precision have 1 sign bit, 5 exponent
// bits with bias 15, and 10 fraction bits.
func half(h uint16) float32 {
	sign := float32(1)
	if h>>15 == 1 {
		sign = -1
	}
	exponent, fraction := int(h>>10&31), float64(h&1023)
	switch exponent {
	case 0:
		return sign * float32(math.Ldexp(fraction, -24))
	case 31:
		if fraction == 0 {
			return sign * float32(math.Inf(1))
		}
		return float32(math.NaN())
	}
	return sign * float32(math.Ldexp(1024+fraction, exponent-25))
}

// Named is an array to write. Its values are in C order.
type Named struct {
	Name   string
	Shape  []int
	Values []float32
}

// Write writes arrays of type F32 in alphabetical order of their names. It also writes metadata, to which it adds a
// checksum. The file is written as a whole or not at all (see [files.Write]). Equal arguments give equal files, byte
// for byte.
func Write(path string, arrays []Named, meta map[string]string) error {
	arrays = slices.SortedFunc(slices.Values(arrays), func(a, b Named) int {
		return slices.Compare([]byte(a.Name), []byte(b.Name))
	})
	known := map[string]string{sumKey: noSum}
	maps.Copy(known, meta)
	header := map[string]any{metadata: known}
	at := int64(0)
	for _, a := range arrays {
		e := entry{Type: "F32", Shape: make([]int64, len(a.Shape))}
		for i, d := range a.Shape {
			e.Shape[i] = int64(d)
		}
		count, err := e.count()
		switch {
		case err != nil:
			return fmt.Errorf("cannot write %s: array %q %w", path, a.Name, err)
		case count != int64(len(a.Values)):
			return fmt.Errorf("cannot write %s: array %q has %d values for the shape %v",
				path, a.Name, len(a.Values), a.Shape)
		case header[a.Name] != nil || a.Name == "" || a.Name == metadata:
			return fmt.Errorf("cannot write %s: array %q has no name of its own", path, a.Name)
		}
		e.Offsets = [2]int64{at, at + 4*count}
		at = e.Offsets[1]
		header[a.Name] = e
	}
	return files.Write(path, func(w io.Writer) error { return encode(w, header, arrays) })
}
