package npz

import (
	"bytes"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// readArray reads an .npy file.
func readArray(b []byte) (*Array, error) {
	r := bytes.NewReader(b)
	a, err := readHeader(r, int64(len(b)))
	if err == nil {
		err = a.readValues(r)
	}
	return a, err
}

// checkValues converts an array to each of the types float32, int64 and bool. Each conversion must return an error, or
// as many values as the array's shape says.
func checkValues(t *testing.T, a *Array) {
	t.Helper()
	n := a.count
	if x, err := a.Float32s(); err == nil && len(x) != n {
		t.Errorf("%d floats of %d", len(x), n)
	}
	if x, err := a.Int64s(); err == nil && len(x) != n {
		t.Errorf("%d integers of %d", len(x), n)
	}
	if x, err := a.Bools(); err == nil && len(x) != n {
		t.Errorf("%d bools of %d", len(x), n)
	}
}

func FuzzNPY(f *testing.F) {
	f.Add(filestest.NPY("<f4", false, "(3, 2)", []float32{1, 2, 3, 4, 5, 6}))
	f.Add(filestest.NPY(">i8", true, "(1, 2)", []int64{1, 2}))
	f.Add(filestest.NPY("<f4", false, "(1099511627776,)", []float32{1}))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		filestest.Parse(t, func() error {
			a, err := readArray(b)
			if err == nil {
				checkValues(t, a)
			}
			return err
		})
	})
}

// FuzzArchive reads arbitrary bytes as an archive, and converts each array of the archive to float32, int64 and bool.
// Errors are allowed, but a panic is not.
func FuzzArchive(f *testing.F) {
	f.Add(filestest.Graph())
	f.Add(filestest.Zeros("a", "|u1", 1<<20))
	f.Add(filestest.Lying("a", 8, 1<<30, 100, "\x93NUMPY\x01\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		filestest.Parse(t, func() error {
			z, err := read(b)
			if err != nil {
				return err
			}
			for _, name := range z.Names() {
				if a, err := z.array(name, Any, 0); err == nil {
					if _, err := z.Shape(name, len(a.Shape)); err != nil {
						t.Error(err)
					}
					checkValues(t, a)
				}
			}
			return nil
		})
	})
}
