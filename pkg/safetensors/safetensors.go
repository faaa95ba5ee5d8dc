// Package safetensors reads and writes the safetensors format of Hugging Face. The section "Format" of
// github.com/huggingface/safetensors describes it. A file begins with eight bytes, which have the length N of the
// header. The header follows, which is N bytes of JSON. Then come the values of the arrays, little-endian and in C
// order (a matrix is stored row by row). The header maps the name of each array to {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [begin, end]}. The two offsets are counted from the end of the header. The header may also have the
// name "__metadata__". This name stands for the file's metadata, a map from strings to strings.
//
// [Write] adds a checksum to the metadata, since the format itself has none. A file whose checksum is wrong is refused.
// Files without a checksum, from other programs, are accepted.
//
// Reading is strict, as the format demands: names must not be repeated, arrays must not overlap or leave gaps, and no
// bytes may follow the last array. Reading an array takes memory of at most a small multiple of the file's size, and
// never more than some 3 GiB.
package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/files"
)

// The first three constants are limits: a file that exceeds one of them is refused. The constant metadata is the name
// of the metadata in the header.
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
	close   func() error
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
	s.close = f.Close
	return s, nil
}

// New reads the header of a file from r. size is the size of the file in bytes. path is only the file's name for error
// messages.
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
	s := &File{Path: path, close: func() error { return nil }}
	rest := size - 8 - int64(n)
	s.data = io.NewSectionReader(r, 8+int64(n), rest)
	if err := s.parse(header); err != nil {
		return fail(err)
	}
	if err := s.check(rest); err != nil {
		return fail(err)
	}
	if err := s.checkSum(header); err != nil {
		return fail(err)
	}
	return s, nil
}

// parse reads the header's JSON. A repeated name is an error.
func (s *File) parse(header []byte) error {
	damaged := func(err error) error { return fmt.Errorf("its header is damaged (%w)", err) }
	if len(header) == 0 || header[0] != '{' {
		return damaged(errors.New("it does not begin with a brace"))
	}
	d := json.NewDecoder(bytes.NewReader(header))
	d.DisallowUnknownFields()
	if _, err := d.Token(); err != nil {
		return damaged(err)
	}
	s.entries = map[string]entry{}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return damaged(err)
		}
		name, _ := t.(string)
		if seen[name] {
			return damaged(fmt.Errorf("%q stands there twice", cut(name)))
		}
		seen[name] = true
		if name == metadata {
			if err := d.Decode(&s.Metadata); err != nil {
				return damaged(err)
			}
			continue
		}
		var e entry
		if err := d.Decode(&e); err != nil {
			return damaged(fmt.Errorf("array %q: %w", cut(name), err))
		}
		s.entries[name] = e
	}
	if _, err := d.Token(); err != nil {
		return damaged(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return damaged(errors.New("something follows its last brace"))
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
