// Package safetensors reads and writes the safetensors format of Hugging Face (github.com/huggingface/safetensors,
// "Format"): eight bytes with the length of the header; the header, JSON, which maps the name of each array to
// {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, with offsets from the header's end, and
// "__metadata__" to a map of strings; and the values, little-endian and in C order.
//
// [Write] adds a checksum to the metadata, since the format has none. A file whose checksum is wrong is refused; files
// without one, from other programs, are accepted.
//
// Reading is strict, as the format demands: names must not be repeated, arrays must not overlap or leave gaps, and no
// bytes may follow the last array. An array takes memory of at most a small multiple of the file's size, and never more
// than some 3 GiB.
package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes/float16"

	"github.com/revgnn/revgnn/pkg/files"
)

// Limits, beyond which a file is refused, and the name of the metadata in the header.
const (
	maxHeader = 16 << 20 // the largest length of the header, in bytes
	maxValues = 1 << 28  // the largest number of values of one array
	maxDims   = 8
	metadata  = "__metadata__"
)

// sizes maps the name of each type to the number of bytes of one value. Types that are not in this map are refused.
var sizes = map[string]int64{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8,
	"U32": 4, "U16": 2, "U8": 1, "BOOL": 1}

// entry is the description of an array in the header.
type entry struct {
	Type    string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// File is an open file. An array is read only when [File.Float32s] is called for it.
type File struct {
	// Path is the name of the file for error messages.
	Path string
	// Metadata is the metadata of the file, without the checksum that revgnn adds.
	Metadata map[string]string
	// Sealed is true if the file has a checksum that revgnn wrote and that is right.
	Sealed  bool
	entries map[string]entry
	data    *io.SectionReader // begins at the header's end
	file    *os.File          // nil unless [Open] opened it
}

// Open opens a file for reading. The caller must close the File.
func Open(path string) (*File, error) {
	f, size, err := files.Open(path, "a .safetensors file")
	if err != nil {
		return nil, err
	}
	s, err := New(f, size, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	s.file = f
	return s, nil
}

// New reads the header of a file of size bytes; path is its name in error messages.
func New(r io.ReaderAt, size int64, path string) (*File, error) {
	fail := func(err error) (*File, error) {
		return nil, fmt.Errorf("%s is not a readable safetensors file: %w; save it again", path, err)
	}
	var length [8]byte
	if _, err := r.ReadAt(length[:], 0); err != nil {
		return fail(errors.New("it is shorter than its first eight bytes"))
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || int64(n) > size-8 {
		return fail(fmt.Errorf("it claims a header of %d bytes in a file of %d", n, size))
	}
	header := make([]byte, n)
	if _, err := r.ReadAt(header, 8); err != nil && err != io.EOF {
		return fail(fmt.Errorf("its header cannot be read (%w)", err))
	}
	s := &File{Path: path}
	rest := size - 8 - int64(n)
	s.data = io.NewSectionReader(r, 8+int64(n), rest)
	for _, step := range []func() error{
		func() error { return s.parse(header) }, func() error { return s.check(rest) },
		func() error { return s.checkSum(header) },
	} {
		if err := step(); err != nil {
			return fail(err)
		}
	}
	return s, nil
}

// parse reads the header's JSON. A repeated name is an error.
func (s *File) parse(header []byte) error {
	damaged := func(err error) error { return fmt.Errorf("its header is damaged (%w)", err) }
	if len(header) == 0 || header[0] != '{' {
		return damaged(errors.New("it does not begin with a brace"))
	}
	content := map[string]jsontext.Value{}
	d := jsontext.NewDecoder(bytes.NewReader(header))
	err := jsonv2.UnmarshalDecode(d, &content)
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return damaged(fmt.Errorf("a name stands there twice: %w", err))
	} else if err != nil {
		return damaged(err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return damaged(errors.New("something follows its last brace"))
	}
	s.entries = map[string]entry{}
	for name, value := range content {
		var e entry
		if name == metadata {
			err = jsonv2.Unmarshal(value, &s.Metadata)
		} else {
			err = jsonv2.Unmarshal(value, &e, jsonv2.RejectUnknownMembers(true))
			s.entries[name] = e
		}
		if err != nil {
			return damaged(fmt.Errorf("%q: %w", cut(name), err))
		}
	}
	return nil
}

// check returns an error unless the arrays fill the part of the file after the header, without gaps or overlaps. size
// is the number of bytes of this part.
func (s *File) check(size int64) error {
	names := s.Names()
	slices.SortStableFunc(names, func(a, b string) int {
		x, y := s.entries[a].Offsets, s.entries[b].Offsets
		return slices.Compare(x[:], y[:])
	})
	at := int64(0)
	for _, name := range names {
		e := s.entries[name]
		count, err := e.count()
		if err != nil {
			return fmt.Errorf("array %q %w", cut(name), err)
		}
		if e.Offsets[0] != at || e.Offsets[1] < at || e.Offsets[1] > size {
			return fmt.Errorf("array %q lies at bytes %d to %d, but should begin at %d and end by %d",
				cut(name), e.Offsets[0], e.Offsets[1], at, size)
		}
		if have := e.Offsets[1] - at; have != count*sizes[e.Type] {
			return fmt.Errorf("array %q claims the shape %v of type %s, but has %d bytes",
				cut(name), e.Shape, e.Type, have)
		}
		at = e.Offsets[1]
	}
	if at != size {
		return fmt.Errorf("%d bytes follow its last array", size-at)
	}
	return nil
}

// count returns the number of values of an array, or an error if the array's type or shape is not supported.
func (e entry) count() (int64, error) {
	if sizes[e.Type] == 0 {
		return 0, fmt.Errorf("has the type %q; supported are %v", cut(e.Type), slices.Sorted(maps.Keys(sizes)))
	}
	if len(e.Shape) > maxDims {
		return 0, fmt.Errorf("has %d dimensions, at most %d are supported", len(e.Shape), maxDims)
	}
	n := int64(1)
	for _, d := range e.Shape {
		if d < 0 || d > math.MaxInt32 {
			return 0, fmt.Errorf("claims the shape %v, but dimensions must lie between 0 and %d",
				e.Shape, math.MaxInt32)
		}
		if n *= d; n > maxValues {
			return 0, fmt.Errorf("claims the shape %v, more than the limit of %d values", e.Shape, maxValues)
		}
	}
	return n, nil
}

// cut shortens text for an error message.
func cut(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}

// Close closes the file.
func (s *File) Close() error { return s.file.Close() }

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
		"F16":  func(b []byte) float32 { return float16.FromBits(binary.LittleEndian.Uint16(b)).Float32() },
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

// Array has its values row by row (C order).
type Array struct {
	Shape  []int
	Values []float32
}

// Write writes arrays of type F32 in alphabetical order, and metadata with a checksum added, as a whole or not at all
// ([files.Write]). Equal arguments give equal files, byte for byte.
func Write(path string, arrays map[string]Array, meta map[string]string) error {
	known := map[string]string{sumKey: noSum}
	maps.Copy(known, meta)
	header := map[string]any{metadata: known}
	var values [][]float32
	at := int64(0)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		a := arrays[name]
		e := entry{Type: "F32", Shape: make([]int64, len(a.Shape))}
		for i, d := range a.Shape {
			e.Shape[i] = int64(d)
		}
		count, err := e.count()
		switch {
		case err != nil:
			return fmt.Errorf("cannot write %s: array %q %w", path, name, err)
		case count != int64(len(a.Values)):
			return fmt.Errorf("cannot write %s: array %q has %d values for the shape %v",
				path, name, len(a.Values), a.Shape)
		case name == "" || name == metadata:
			return fmt.Errorf("cannot write %s: array %q has no name of its own", path, name)
		}
		e.Offsets = [2]int64{at, at + 4*count}
		at = e.Offsets[1]
		header[name] = e
		values = append(values, a.Values)
	}
	return files.Write(path, func(w io.Writer) error { return encode(w, header, values) })
}

// encode writes a file, with the checksum in place of the zeros in the header.
func encode(w io.Writer, header map[string]any, values [][]float32) error {
	text, err := json.Marshal(header) // Marshal sorts the names, so that equal arrays give equal files
	if err != nil {
		return err
	}
	// The header is filled up with spaces, so that the values begin at a multiple of 8 bytes.
	text = append(text, bytes.Repeat([]byte(" "), (8-len(text)%8)%8)...)
	sum := sha256.New()
	sum.Write(frame(text))
	if err := writeValues(sum, values); err != nil {
		return err
	}
	if _, err := w.Write(frame(withSum(text, noSum, hex.EncodeToString(sum.Sum(nil))))); err != nil {
		return err
	}
	return writeValues(w, values)
}

// frame puts the length of a header, as eight bytes, before the header.
func frame(header []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
}

func writeValues(w io.Writer, values [][]float32) error {
	for _, v := range values {
		if err := binary.Write(w, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	return nil
}

// sumKey is the key of the checksum in the metadata: the SHA-256 of the file with 64 zeros in place of its digits.
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
