package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes/float16"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// file returns the bytes of a file: the length of the header, the header, and the bytes of the arrays.
func file(header string, data ...byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

func read(b []byte) (*File, error) { return New(bytes.NewReader(b), int64(len(b)), "x.safetensors") }

func TestRoundTrip(t *testing.T) {
	arrays := map[string]Array{"b": {[]int{2, 3}, []float32{1, 2, 3, 4, 5, float32(math.Inf(-1))}},
		"a": {nil, []float32{7}}, "empty": {[]int{0, 2}, nil}}
	dir := t.TempDir()
	one, two := filepath.Join(dir, "1.safetensors"), filepath.Join(dir, "2.safetensors")
	for _, path := range []string{one, two} {
		if err := Write(path, arrays, map[string]string{"model": "gcn"}); err != nil {
			t.Fatal(err)
		}
	}
	x, _ := os.ReadFile(one)
	y, _ := os.ReadFile(two)
	if !bytes.Equal(x, y) {
		t.Error("equal arrays give different files")
	}
	s, err := Open(one)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if fmt.Sprint(s.Names(), s.Metadata) != "[a b empty] map[model:gcn]" {
		t.Errorf("got %v %v", s.Names(), s.Metadata)
	}
	for name, a := range arrays {
		values, shape, err := s.Float32s(name)
		if err != nil || !slices.Equal(values, a.Values) || !slices.Equal(shape, a.Shape) {
			t.Errorf("%s: %v %v %v", name, values, shape, err)
		}
	}
}

// TestFlippedBytes changes each byte of a file that Write has written. The changed file must be refused, unless it
// still has the same arrays.
func TestFlippedBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	if err := Write(path, map[string]Array{"a.weight": {[]int{2, 3}, []float32{1, 2, 3, 4, 5, 6}},
		"a.bias": {[]int{3, 2}, make([]float32, 6)}}, map[string]string{"model": "gcn"}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content := func(b []byte) (out []string, err error) {
		s, err := read(b)
		if err != nil {
			return nil, err
		}
		for _, name := range s.Names() {
			values, shape, err := s.Float32s(name)
			if err != nil {
				return nil, err
			}
			out = append(out, fmt.Sprint(name, shape, values))
		}
		return out, nil
	}
	want, err := content(whole)
	if err != nil {
		t.Fatal(err)
	}
	filestest.Flips(whole, func(at int, flipped []byte) {
		filestest.Parse(t, func() error {
			got, err := content(flipped)
			if err == nil && !slices.Equal(got, want) {
				t.Errorf("byte %d: got %q, want %q", at, got, want)
			}
			return err
		})
	})
}

// TestTypes reads the numbers 1, -2 and 0.5 in every floating-point type.
func TestTypes(t *testing.T) {
	for kind, data := range map[string]any{
		"F32":  []float32{1, -2, 0.5},
		"F64":  []float64{1, -2, 0.5},
		"F16":  []uint16{0x3c00, 0xc000, 0x3800},
		"BF16": []uint16{0x3f80, 0xc000, 0x3f00},
	} {
		var b bytes.Buffer
		binary.Write(&b, binary.LittleEndian, data)
		s, err := read(file(fmt.Sprintf(`{"x":{"dtype":%q,"shape":[3],"data_offsets":[0,%d]}}`, kind, b.Len()),
			b.Bytes()...))
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := s.Float32s("x"); err != nil || !slices.Equal(got, []float32{1, -2, 0.5}) {
			t.Errorf("%s: %v %v", kind, got, err)
		}
	}
	for h, want := range map[uint16]float32{0: 0, 1: 0x1p-24, 0x03ff: 1023 * 0x1p-24, 0x0400: 0x1p-14, 0x7bff: 65504,
		0xfc00: float32(math.Inf(-1))} {
		if got := float16.FromBits(h).Float32(); got != want {
			t.Errorf("%#x is %v, want %v", h, got, want)
		}
	}
	if v := float16.FromBits(0x7e00).Float32(); v == v {
		t.Errorf("not a number is %v", v)
	}
}

func TestBadFiles(t *testing.T) {
	four := []byte{0, 0, 0, 0}
	for _, c := range []struct {
		want string
		file []byte
	}{
		{"shorter than", nil},
		{"claims a header", file("{}")[:9]},
		{"claims a header", binary.LittleEndian.AppendUint64(nil, 1<<62)},
		{"begin with a brace", file("")},
		{"begin with a brace", file(" {}")},
		{"begin with a brace", file("[]")},
		{"damaged", file("{")},
		{"damaged", file(`{"a":1}`)},
		{"damaged", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}}`, four...)},
		{"damaged", file(`{"__metadata__":{"a":1}}`)},
		{"follows its last brace", file(`{} {}`)},
		{"twice", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],`+
			`"data_offsets":[0,4]}}`, four...)},
		{"has the type", file(`{"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}}`, four...)},
		{"but has 4 bytes", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, four...)},
		{"end by 4", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, four...)},
		{"should begin at 0",
			file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, append(four, four...)...)},
		{"should begin at 0", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}`, four...)},
		{"should begin at 4", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32",`+
			`"shape":[1],"data_offsets":[0,4]}}`, four...)},
		{"follow its last array", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, append(four, 1)...)},
		{"more than the limit", file(`{"a":{"dtype":"F32","shape":[1048576,1048576],"data_offsets":[0,4]}}`, four...)},
		{"dimensions must lie", file(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, four...)},
		{"at most 8", file(`{"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}}`, four...)},
	} {
		_, err := read(c.file)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.file, err, c.want)
		}
	}
	s, err := read(file(`{"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}}`, four...))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "has the type I32", "b": "no array"} {
		if _, _, err := s.Float32s(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	for want, arrays := range map[string]map[string]Array{
		"for the shape":   {"a": {[]int{2}, []float32{1}}},
		"name of its own": {"__metadata__": {nil, []float32{1}}},
		"of its own":      {"": {nil, []float32{1}}},
	} {
		if err := Write(filepath.Join(dir, "a"), arrays, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// FuzzNew reads arbitrary files. There must be no panic. Each array must have as many values as its shape says, and not
// more than fit into the file.
func FuzzNew(f *testing.F) {
	f.Add(file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"__metadata__":{"x":"y"}}`, 1, 2, 3, 4))
	f.Add(file(`{"a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]},"b":{"dtype":"F64","shape":[0,9],`+
		`"data_offsets":[2,2]}}`, 1, 2))
	f.Add(file("{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := read(b)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		for _, name := range s.Names() {
			values, shape, err := s.Float32s(name)
			if err != nil {
				continue
			}
			n := 1
			for _, d := range shape {
				n *= d
			}
			if n != len(values) || 2*n > len(b) {
				t.Errorf("%q: %d values of shape %v in %d bytes", name, len(values), shape, len(b))
			}
		}
	})
}
