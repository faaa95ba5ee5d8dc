// Package npz reads and writes NumPy's files of arrays: an .npz file is a zip archive of .npy files, its entries, and
// each of these is one array, after a header with its type and shape (numpy.lib.format, versions 1 to 3). C order
// stores a matrix row by row, Fortran order column by column.
//
// Only arrays of plain numbers and bool can be read, and sizes are limited: a damaged file, or one made to do harm,
// gives an error that names the array, not a large allocation or a panic. Pickled Python objects are never read.
package npz

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/machine"
)

// All arrays of an archive of s bytes may take freeUnpacked + mostRatio * s bytes of memory together, and never more
// than mostUnpacked: an archive made to do harm can become a thousand times as large in memory, and real data hardly
// more than some times.
const (
	mostUnpacked = 4 << 30
	freeUnpacked = 256 << 20
	mostRatio    = 64
)

// Any stands for any number of dimensions, as the argument dims of methods such as [File.Shape].
const Any = -1

// File is an open archive. Each array is read when it is asked for.
type File struct {
	// Path is the name by which error messages call the file.
	Path    string
	size    int64 // the archive's size in bytes
	entries map[string]*zip.File
	taken   map[string]int64 // the memory of each array that was read, in bytes
	file    *os.File         // nil unless [Open] opened it
}

// Open opens an archive for reading. The caller must close the File.
func Open(path string) (*File, error) {
	f, size, err := files.Open(path, "an .npz file")
	if err != nil {
		return nil, err
	}
	z, err := New(f, size, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	z.file = f
	return z, nil
}

// New opens an archive of size bytes; path is its name in error messages. No array is read.
func New(r io.ReaderAt, size int64, path string) (*File, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s is not a readable npz archive, perhaps cut short (%w); fetch or save it again",
			path, err)
	}
	z := &File{Path: path, size: size, entries: map[string]*zip.File{}, taken: map[string]int64{}}
	for _, f := range archive.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if !sameName(r, f) {
			return nil, fmt.Errorf("%s is damaged: its directory has the name %q, which is not that before the array; fetch "+
				"or save it again", path, cut(name))
		}
		if z.entries[name] != nil {
			return nil, fmt.Errorf("%s holds the array %q twice; save it again", path, cut(name))
		}
		z.entries[name] = f
	}
	return z, nil
}

// Close closes the file that [Open] opened.
func (z *File) Close() error { return z.file.Close() }

// Names returns the names of the arrays in alphabetical order.
func (z *File) Names() []string { return slices.Sorted(maps.Keys(z.entries)) }

// Has tells whether the archive has an array with the given name.
func (z *File) Has(name string) bool { return z.entries[name] != nil }

// Shape reads the shape of an array without its values. dims is the number of dimensions that the array must have, or
// [Any].
func (z *File) Shape(name string, dims int) ([]int, error) {
	a, err := z.open(name, dims, func(*Array, io.Reader) error { return nil })
	if err != nil {
		return nil, err
	}
	return a.Shape, nil
}

// array reads an array. Its stored size, or width bytes for each value if it will be converted (0 if not), whichever is
// larger, counts towards the limit on the memory of all arrays.
func (z *File) array(name string, dims, width int) (*Array, error) {
	return z.open(name, dims, func(a *Array, r io.Reader) error {
		values := int64(a.count) * int64(width)
		if err := cmp.Or(z.take(name, max(a.bytes(), values)), machine.Room(a.bytes()+values)); err != nil {
			return err
		}
		return a.readValues(r)
	})
}

// take records an array's memory before it is read; an error if all together would take too much ([mostUnpacked]).
func (z *File) take(name string, bytes int64) error {
	total := bytes
	for other, n := range z.taken {
		if other != name {
			total += n
		}
	}
	if most := min(mostUnpacked, freeUnpacked+mostRatio*z.size); total > most {
		return fmt.Errorf("would bring the archive of %d bytes to %d in memory, more than the limit of %d; if its content "+
			"is right, save it by numpy.savez, unpacked", z.size, total, most)
	}
	z.taken[name] = bytes
	return nil
}

// open reads an array's header, checks the sizes that the archive's directory and the header claim, and calls use,
// which may read the values.
func (z *File) open(name string, dims int, use func(a *Array, values io.Reader) error) (a *Array, err error) {
	entry := z.entries[name]
	if entry == nil {
		return nil, fmt.Errorf("%s has no array %q; it has %s", z.Path, name, listed(z.Names()))
	}
	defer func() {
		if err != nil {
			a, err = nil, fmt.Errorf("%s: array %q %w", z.Path, cut(name), err)
		}
	}()
	if err := z.checkEntry(entry); err != nil {
		return nil, err
	}
	r, err := entry.Open()
	if err != nil {
		return nil, fmt.Errorf("cannot be read, the archive is damaged (%w)", err)
	}
	defer r.Close()
	if a, err = readHeader(r, int64(entry.UncompressedSize64)); err != nil {
		return nil, err
	}
	if dims != Any && len(a.Shape) != dims {
		return nil, fmt.Errorf("has shape %v where %d dimensions are needed", a.Shape, dims)
	}
	return a, use(a, r)
}

// values reads an array and converts its values to the type T.
func values[T any](z *File, name string, dims int, convert func(*Array) ([]T, error)) ([]T, []int, error) {
	var one T
	a, err := z.array(name, dims, max(0, binary.Size(one)))
	if err != nil {
		return nil, nil, err
	}
	out, err := convert(a)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: array %q %w", z.Path, name, err)
	}
	return out, a.Shape, nil
}

// Float32s reads an array of numbers. It returns the values in C order, and the array's shape. Values beyond the range
// of float32 become infinite.
func (z *File) Float32s(name string, dims int) ([]float32, []int, error) {
	return values(z, name, dims, (*Array).Float32s)
}

// Int64s reads an array of whole numbers. It returns the values in C order, and the array's shape.
func (z *File) Int64s(name string, dims int) ([]int64, []int, error) {
	return values(z, name, dims, (*Array).Int64s)
}

// Bools reads an array of bool, or of the numbers 0 and 1. It returns the values in C order, and the array's shape.
func (z *File) Bools(name string, dims int) ([]bool, []int, error) {
	return values(z, name, dims, (*Array).Bools)
}

// Text reads an array with one text of bytes.
func (z *File) Text(name string) (string, error) {
	texts, _, err := values(z, name, Any, func(a *Array) ([]string, error) {
		text, err := a.Text()
		return []string{text}, err
	})
	if err != nil {
		return "", err
	}
	return texts[0], nil
}

// listed returns the first twelve names as one text, for an error message.
func listed(names []string) string {
	const most = 12
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	for i := range names {
		names[i] = files.Printable(cut(names[i]))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

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
	// A zip header has a signature, other fields, the lengths of the name and of the extra field, the name, and the extra
	// field, in this order. Only the position of its end is known.
	const signature, nameLength, fixed, mostExtra = "PK\x03\x04", 26, 30, 1 << 10
	at, err := f.DataOffset()
	if err != nil {
		return false
	}
	before := make([]byte, min(at, int64(fixed+len(f.Name)+mostExtra)))
	if _, err := r.ReadAt(before, at-int64(len(before))); err != nil && err != io.EOF {
		return false
	}
	h := before[max(0, bytes.LastIndex(before, []byte(signature))):]
	return len(h) >= fixed+len(f.Name) && int(binary.LittleEndian.Uint16(h[nameLength:])) == len(f.Name) &&
		string(h[fixed:fixed+len(f.Name)]) == f.Name
}
