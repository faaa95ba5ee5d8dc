package npz

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
)

// maxDeflateRatio is the most that deflate can shrink data (RFC 1951: a 258-byte match in two bits). A zip entry that
// claims more is damaged or hostile.
const maxDeflateRatio = 1032

// Any as a number of dimensions accepts every array.
const Any = -1

// File is an open archive, whose arrays are read one by one as they are asked for.
type File struct {
	// Path names the file in errors.
	Path    string
	size    int64 // of the archive
	entries map[string]*zip.File
	close   func() error
}

// Open opens an archive for reading; Close it after.
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
	z.close = f.Close
	return z, nil
}

// New reads the directory of an archive of size bytes. path only names it in errors.
func New(r io.ReaderAt, size int64, path string) (*File, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s is not a readable npz archive, perhaps cut short (%w); fetch or save it again",
			path, err)
	}
	z := &File{Path: path, size: size, entries: map[string]*zip.File{}, close: func() error { return nil }}
	for _, f := range archive.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if z.entries[name] != nil {
			return nil, fmt.Errorf("%s holds the array %q twice; save it again", path, cut(name))
		}
		z.entries[name] = f
	}
	return z, nil
}

// Close closes the file behind the archive.
func (z *File) Close() error { return z.close() }

// Names lists the arrays in alphabetical order.
func (z *File) Names() []string { return slices.Sorted(maps.Keys(z.entries)) }

// Has tells whether there is an array of that name.
func (z *File) Has(name string) bool { return z.entries[name] != nil }

// Array reads one array, and checks that it has the given number of dimensions, or [Any].
func (z *File) Array(name string, dims int) (*Array, error) {
	entry := z.entries[name]
	if entry == nil {
		return nil, fmt.Errorf("%s has no array %q; it has %s", z.Path, name, listed(z.Names()))
	}
	fail := func(err error) (*Array, error) {
		return nil, fmt.Errorf("%s: array %q %w", z.Path, name, err)
	}
	size := entry.UncompressedSize64
	if entry.CompressedSize64 > uint64(z.size) {
		return fail(fmt.Errorf("claims more bytes than the archive has; the archive is cut short or damaged"))
	}
	if size > maxArrayBytes+maxHeaderBytes {
		return fail(fmt.Errorf("claims %d bytes, more than the limit of %d", size, int64(maxArrayBytes)))
	}
	switch entry.Method {
	case zip.Store:
		if size != entry.CompressedSize64 {
			return fail(fmt.Errorf("has two different sizes in the archive's directory; the archive is damaged"))
		}
	case zip.Deflate:
		if size/maxDeflateRatio > entry.CompressedSize64 {
			return fail(fmt.Errorf("claims %d bytes from %d packed ones; the archive is damaged",
				size, entry.CompressedSize64))
		}
	default:
		return fail(fmt.Errorf("is packed by method %d; supported are numpy.savez and numpy.savez_compressed",
			entry.Method))
	}
	r, err := entry.Open()
	if err != nil {
		return fail(fmt.Errorf("cannot be read, the archive is damaged (%w)", err))
	}
	defer r.Close()
	a, err := readNPY(r, int64(size))
	if err != nil {
		return fail(err)
	}
	if dims != Any && len(a.Shape) != dims {
		return fail(fmt.Errorf("has shape %v where %d dimensions are needed", a.Shape, dims))
	}
	return a, nil
}

// values reads an array and converts it.
func values[T any](z *File, name string, dims int, convert func(*Array) ([]T, error)) ([]T, []int, error) {
	a, err := z.Array(name, dims)
	if err != nil {
		return nil, nil, err
	}
	out, err := convert(a)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: array %q %w", z.Path, name, err)
	}
	return out, a.Shape, nil
}

// Float32s reads an array of numbers in C order, and its shape. Values beyond float32 become infinite.
func (z *File) Float32s(name string, dims int) ([]float32, []int, error) {
	return values(z, name, dims, (*Array).Float32s)
}

// Int64s reads an array of whole numbers in C order, and its shape.
func (z *File) Int64s(name string, dims int) ([]int64, []int, error) {
	return values(z, name, dims, (*Array).Int64s)
}

// Bools reads an array of bool, or of 0 and 1, in C order, and its shape.
func (z *File) Bools(name string, dims int) ([]bool, []int, error) {
	return values(z, name, dims, (*Array).Bools)
}

// listed shows the first names.
func listed(names []string) string {
	const most = 12
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	for i := range names {
		names[i] = cut(names[i])
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
