package npz

import (
	"archive/zip"
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// TestFlippedBytes changes one byte of an archive at a time. Reading the changed archive must return an error, or the
// same arrays as before.
func TestFlippedBytes(t *testing.T) {
	written := filestest.Archive(
		filestest.Named("x", filestest.NPY("<f4", false, "(3, 2)", []float32{1, 2, 3, 4, 5, 6})),
		filestest.Named("flag", filestest.NPY("|b1", false, "()", []bool{true})))
	for name, whole := range map[string][]byte{"deflated": written, "stored": stored(t)} {
		want, err := content(whole)
		if err != nil {
			t.Fatal(name, err)
		}
		filestest.Flips(whole, func(at int, flipped []byte) {
			filestest.Parse(t, func() error {
				got, err := content(flipped)
				if err == nil && !slices.Equal(got, want) {
					t.Errorf("%s, byte %d: got %q, want %q", name, at, got, want)
				}
				return err
			})
		})
	}
}

// content returns the names, shapes and values of all arrays of an archive.
func content(b []byte) (out []string, err error) {
	z, err := New(bytes.NewReader(b), int64(len(b)), "some.npz")
	if err != nil {
		return nil, err
	}
	for _, name := range z.Names() {
		values, shape, err := z.Float32s(name, Any)
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprint(name, shape, values))
	}
	return out, nil
}

// stored returns an archive of arrays that are not compressed. The zip header before each array has an extra field, as
// in archives by NumPy.
func stored(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"flag", "other"} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Extra: make([]byte, 20)})
		if err == nil {
			_, err = w.Write(filestest.NPY("<i4", false, "(1,)", []int32{1}))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
