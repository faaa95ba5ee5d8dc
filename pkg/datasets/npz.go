package datasets

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxDeflateRatio is the most that deflate can shrink data (RFC 1951: a 258-byte match in two bits). A zip entry that
// claims more is damaged or hostile.
const maxDeflateRatio = 1032

// npz is an open NumPy archive: a zip of .npy files, read one by one as they are asked for.
type npz struct {
	path    string
	size    int64 // of the archive
	entries map[string]*zip.File
}

// openNPZ reads the directory of an archive. path only names the file in errors.
func openNPZ(r io.ReaderAt, size int64, path string) (*npz, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s is not a readable npz archive, perhaps cut short (%w); fetch or save it again", path, err)
	}
	z := &npz{path: path, size: size, entries: map[string]*zip.File{}}
	for _, f := range archive.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if z.entries[name] != nil {
			return nil, fmt.Errorf("%s holds the array %q twice; save it again", path, name)
		}
		z.entries[name] = f
	}
	return z, nil
}

// withNPZ opens the archive at path and hands it to parse.
func withNPZ[T any](path string, parse func(*npz) (T, error)) (T, error) {
	var none T
	f, err := os.Open(path)
	if err != nil {
		return none, fmt.Errorf("cannot open the dataset file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return none, fmt.Errorf("cannot read the dataset file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return none, fmt.Errorf("%s is not a regular file; give an .npz file", path)
	}
	z, err := openNPZ(f, info.Size(), path)
	if err != nil {
		return none, err
	}
	return parse(z)
}

func (z *npz) has(name string) bool { return z.entries[name] != nil }

// array reads one array, and checks that it has the given number of dimensions.
func (z *npz) array(name string, dims int) (*array, error) {
	entry := z.entries[name]
	if entry == nil {
		return nil, fmt.Errorf("%s has no array %q; the keys needed are listed in the documentation of datasets.Load", z.path, name)
	}
	fail := func(err error) (*array, error) {
		return nil, fmt.Errorf("%s: array %q %w", z.path, name, err)
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
			return fail(fmt.Errorf("claims %d bytes from %d packed ones; the archive is damaged", size, entry.CompressedSize64))
		}
	default:
		return fail(fmt.Errorf("is packed by method %d; supported are numpy.savez and numpy.savez_compressed", entry.Method))
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
	if len(a.shape) != dims {
		return fail(fmt.Errorf("has shape %v where %d dimensions are needed", a.shape, dims))
	}
	return a, nil
}

// values reads an array and converts it: z.float32s("x", 2) and so on.
func values[T any](z *npz, name string, dims int, convert func(*array) ([]T, error)) ([]T, []int, error) {
	a, err := z.array(name, dims)
	if err != nil {
		return nil, nil, err
	}
	out, err := convert(a)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: array %q %w", z.path, name, err)
	}
	return out, a.shape, nil
}

func (z *npz) float32s(name string, dims int) ([]float32, []int, error) {
	return values(z, name, dims, (*array).float32s)
}

func (z *npz) int64s(name string, dims int) ([]int64, []int, error) {
	return values(z, name, dims, (*array).int64s)
}

func (z *npz) bools(name string, dims int) ([]bool, []int, error) {
	return values(z, name, dims, (*array).bools)
}
