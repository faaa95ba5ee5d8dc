package trained

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
	"github.com/revgnn/revgnn/pkg/train"
)

// FuzzRead reads arbitrary .npz and .safetensors files. Every array that is accepted must have as many values as its
// shape says.
func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	some := map[string]train.Array{"a.weight": {Shape: []int{2, 1}, Values: []float32{1, 2}}, "b": {Values: []float32{3}}}
	for i, name := range []string{"w.npz", "w.safetensors"} {
		path := filepath.Join(dir, name)
		if err := WriteWeights(path, some); err != nil {
			f.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i == 0, b)
	}
	f.Add(true, filestest.Zeros("param.a", "|u1", 1<<20))
	f.Add(false, append([]byte{2, 0, 0, 0, 0, 0, 0, 0}, "{}"...))
	f.Fuzz(func(t *testing.T, packed bool, b []byte) {
		name := "fuzz.safetensors"
		if packed {
			name = "fuzz.npz"
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, bytes.Clone(b), 0o600); err != nil {
			t.Fatal(err)
		}
		var read map[string]train.Array
		filestest.Parse(t, func() (err error) {
			read, err = ReadWeights(path)
			return err
		})
		for name, a := range read {
			n := 1
			for _, d := range a.Shape {
				n *= d
			}
			if n != len(a.Values) {
				t.Errorf("%q has %d values for the shape %v", name, len(a.Values), a.Shape)
			}
		}
	})
}
