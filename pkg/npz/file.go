package npz

import (
	"archive/zip"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/machine"
)

// All arrays of an archive together may take freeUnpacked + mostRatio * s bytes of memory, where s is the archive's
// size in bytes, but never more than mostUnpacked. A small archive that is made to do harm can become huge in memory:
// zeros take a thousand times their compressed size. Real data take far less than 64 times their compressed size.
const (
	mostUnpacked = 4 << 30
	freeUnpacked = 256 << 20
	mostRatio    = 64
)

// Any stands for any number of dimensions, as the argument dims of methods such as [File.Array].
const Any = -1

// File is an open archive. Each array is read when it is asked for.
type File struct {
	// Path is the name by which error messages call the file.
	Path    string
	size    int64 // the archive's size in bytes
	entries map[string]*zip.File
	taken   map[string]int64 // the memory of each array that was read, in bytes
	close   func() error
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
	z.close = f.Close
	return z, nil
}

// New opens an archive whose bytes are read from r. It reads the names of the arrays, but no array. The argument size
// is the archive's size in bytes, and path is the name by which error messages call the file.
func New(r io.ReaderAt, size int64, path string) (*File, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s is not a readable npz archive, perhaps cut short (%w); fetch or save it again",
			path, err)
	}
	z := &File{Path: path, size: size, entries: map[string]*zip.File{}, taken: map[string]int64{},
		close: func() error { return nil }}
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
func (z *File) Close() error { return z.close() }

// Names returns the names of the arrays in alphabetical order.
func (z *File) Names() []string { return slices.Sorted(maps.Keys(z.entries)) }

// Has tells whether the archive has an array with the given name.
func (z *File) Has(name string) bool { return z.entries[name] != nil }

// Shape reads the shape of an array without its values. dims is the number of dimensions that the array must have, or
// [Any].
func (z *File) Shape(name string, dims int) ([]int, error) {
	var a *Array
	err := z.open(name, dims, func(r *arrayReader) error {
		a = r.array
		return nil
	})
	if err != nil {
		return nil, err
	}
	return a.Shape, nil
}

// Array reads one array. dims is the number of dimensions that the array must have, or [Any].
func (z *File) Array(name string, dims int) (a *Array, err error) { return z.array(name, dims, 0) }

// array reads an array. If the values will be converted to another type, width is the number of bytes of a converted
// value; otherwise width is 0. The array's stored size or its converted size, whichever is larger, counts towards the
// limit on the memory of all arrays.
func (z *File) array(name string, dims, width int) (a *Array, err error) {
	err = z.open(name, dims, func(r *arrayReader) error {
		values := int64(r.array.count()) * int64(width)
		if err := cmp.Or(z.take(name, max(r.bytes, values)), machine.Room(r.bytes+values)); err != nil {
			return err
		}
		a = r.array
		return r.read()
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// take records how many bytes of memory an array takes, before the array is read. It returns an error if this array and
// all arrays that were read before would together take more than the limit for the archive (see [mostUnpacked]).
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

// open reads an array's header, and checks the sizes that the archive's directory and the header claim. Then it calls
// the function use, which may read the values.
func (z *File) open(name string, dims int, use func(*arrayReader) error) error {
	entry := z.entries[name]
	if entry == nil {
		return fmt.Errorf("%s has no array %q; it has %s", z.Path, name, listed(z.Names()))
	}
	fail := func(err error) error { return fmt.Errorf("%s: array %q %w", z.Path, cut(name), err) }
	if err := z.checkEntry(entry); err != nil {
		return fail(err)
	}
	r, err := entry.Open()
	if err != nil {
		return fail(fmt.Errorf("cannot be read, the archive is damaged (%w)", err))
	}
	defer r.Close()
	a, err := newArrayReader(r, int64(entry.UncompressedSize64))
	if err != nil {
		return fail(err)
	}
	if shape := a.array.Shape; dims != Any && len(shape) != dims {
		return fail(fmt.Errorf("has shape %v where %d dimensions are needed", shape, dims))
	}
	if err := use(a); err != nil {
		return fail(err)
	}
	return nil
}

// values reads an array and converts its values to the type T.
func values[T any](z *File, name string, dims int, convert func(*Array) ([]T, error)) ([]T, []int, error) {
	var one T
	a, err := z.array(name, dims, binary.Size(one))
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

// Bools reads an array of bool, or of the integers 0 and 1. It returns the values in C order, and the array's shape.
func (z *File) Bools(name string, dims int) ([]bool, []int, error) {
	return values(z, name, dims, (*Array).Bools)
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
