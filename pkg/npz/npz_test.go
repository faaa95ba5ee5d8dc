package npz

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

func read(b []byte) (*File, error) { return New(bytes.NewReader(b), int64(len(b)), "x.npz") }

// mustFail checks that err is an error, and that the error's text is one line and contains want. The argument what
// names the tested case.
func mustFail(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("%s: the error is %q, want %q in one line", what, fmt.Sprint(err), want)
	}
}

// TestEveryLayoutReadsTheSame stores equal values with several types and byte orders, and in Fortran order. Reading
// must return equal values.
func TestEveryLayoutReadsTheSame(t *testing.T) {
	for what, b := range map[string][]byte{
		"float32":           filestest.NPY("<f4", false, "(3, 2)", []float32{1, 2, 3, 4, 5, 6}),
		"big endian double": filestest.NPY(">f8", false, "(3, 2)", []float64{1, 2, 3, 4, 5, 6}),
		"Fortran order":     filestest.NPY("<f4", true, "(3, 2)", []float32{1, 3, 5, 2, 4, 6}),
		"int16":             filestest.NPY("<i2", false, "(3, 2)", []int16{1, 2, 3, 4, 5, 6}),
		"uint8":             filestest.NPY("|u1", false, "(3, 2)", []uint8{1, 2, 3, 4, 5, 6}),
		"big endian uint64": filestest.NPY(">u8", false, "(3, 2)", []uint64{1, 2, 3, 4, 5, 6}),
	} {
		z, err := read(filestest.Archive(filestest.Named("a", b)))
		if err != nil {
			t.Fatal(err)
		}
		x, shape, err := z.Float32s("a", 2)
		if err != nil || !slices.Equal(x, []float32{1, 2, 3, 4, 5, 6}) || !slices.Equal(shape, []int{3, 2}) {
			t.Errorf("%s: %v %v %v", what, x, shape, err)
		}
		if _, _, err := z.Float32s("a", Any); err != nil {
			t.Error(err)
		}
	}
}

func TestBadArrays(t *testing.T) {
	for _, c := range []struct {
		what, want string
		npy        []byte
	}{
		{"2^40 values", "more than the limit", filestest.NPY("<f4", false, "(1048576, 1048576)", []float32{1})},
		{"2^40 in one row", "dimensions must lie between",
			filestest.NPY("<f4", false, "(1099511627776,)", []float32{1})},
		{"negative", "dimensions must lie between", filestest.NPY("<f4", false, "(-1,)", []float32{1})},
		{"beyond the data", "but holds", filestest.NPY("<f4", false, "(2,)", []float32{1})},
		{"objects", "has the type", filestest.NPY("|O", false, "(1,)", []int64{0})},
		{"wrong dimensions", "1 dimensions are needed", filestest.NPY("<f4", false, "(1, 1)", []float32{1})},
		{"no npy", "npy format", []byte("hello, world")},
	} {
		z, err := read(filestest.Archive(filestest.Named("a", c.npy)))
		if err == nil {
			_, _, err = z.Float32s("a", 1)
		}
		mustFail(t, c.what, err, c.want)
	}
	whole := filestest.Archive(filestest.Named("a", filestest.NPY("<f4", false, "(1,)", []float32{1})))
	_, err := read(whole[:len(whole)-5])
	mustFail(t, "cut short", err, "perhaps cut short")
	z, err := read(whole)
	if err != nil {
		t.Fatal(err)
	}
	_, err = z.array("b", Any, 0)
	mustFail(t, "no array", err, `no array "b"; it has a`)
	_, err = Open(t.TempDir())
	mustFail(t, "folder", err, "not a regular file")
	_, err = Open(filepath.Join(t.TempDir(), "none.npz"))
	mustFail(t, "no file", err, "no such file")
}

// TestClaimsDoNotAllocate reads small files that claim to have a lot of data. Reading must return an error, and take
// little memory.
func TestClaimsDoNotAllocate(t *testing.T) {
	header := string(filestest.NPY("<f4", false, "(16384, 16384)", []float32{}))
	billion := uint64(1<<30 + len(header))
	for what, b := range map[string][]byte{
		"stored, both sizes false": filestest.Lying("a", zip.Store, billion, billion, header),
		"stored, one size false":   filestest.Lying("a", zip.Store, billion, 100, header),
		"deflated":                 filestest.Lying("a", zip.Deflate, billion, 100, header),
		"far beyond":               filestest.Lying("a", zip.Deflate, 1<<62, 1<<50, header),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		z, err := read(b)
		if err == nil {
			_, err = z.array("a", Any, 0)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; err == nil || used > 4<<20 {
			t.Errorf("%s: error %v, %d bytes allocated", what, err, used)
		}
	}
}

var samples = []Named{
	{"param.weight", []int{2, 3}, []float32{1, -2, 3.5, 0, float32(math.Inf(1)), 6}},
	{"scalar", nil, []float32{7}},
	{"ids", []int{3}, []int64{-1, 0, 1 << 40}},
	{"small", []int{1, 1, 2}, []int32{-5, 5}},
	{"mask", []int{2}, []bool{true, false}},
	{"empty", []int{0, 4}, []float32{}},
}

func TestWriteReadsBack(t *testing.T) {
	path, again := filepath.Join(t.TempDir(), "a.npz"), filepath.Join(t.TempDir(), "b.npz")
	for _, p := range []string{path, again} {
		if err := Write(p, samples); err != nil {
			t.Fatal(err)
		}
	}
	one, _ := os.ReadFile(path)
	two, _ := os.ReadFile(again)
	if !bytes.Equal(one, two) {
		t.Error("equal arrays give different files")
	}
	z, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if got := fmt.Sprint(z.Names()); got != "[empty ids mask param.weight scalar small]" {
		t.Errorf("names %s", got)
	}
	for _, s := range samples {
		var got any
		var shape []int
		switch s.Values.(type) {
		case []float32:
			got, shape, err = z.Float32s(s.Name, len(s.Shape))
		case []bool:
			got, shape, err = z.Bools(s.Name, len(s.Shape))
		default:
			got, shape, err = z.Int64s(s.Name, len(s.Shape))
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(s.Values) ||
			fmt.Sprint(shape) != fmt.Sprint(append([]int{}, s.Shape...)) {
			t.Errorf("%s gives %v %v, %v", s.Name, got, shape, err)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	for want, arrays := range map[string][]Named{
		"has 1 values":      {{"a", []int{2}, []float32{1}}},
		"has the type":      {{"a", []int{1}, []string{"x"}}},
		"no name of its":    {{"a", nil, []float32{1}}, {"a", nil, []float32{1}}},
		"dimensions must l": {{"a", []int{-1}, []float32{}}},
	} {
		mustFail(t, want, Write(filepath.Join(dir, "a.npz"), arrays), want)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestNumPyReadsIt: NumPy can read the files that Write writes. The test is skipped if there is no Python with NumPy.
func TestNumPyReadsIt(t *testing.T) {
	if exec.Command("python3", "-c", "import numpy").Run() != nil {
		t.Skip("python3 has no numpy: that NumPy reads the archives is not tested here")
	}
	path := filepath.Join(t.TempDir(), "a.npz")
	if err := Write(path, samples); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("python3", "-c", "import numpy, sys; z = numpy.load(sys.argv[1])\n"+
		"for k in sorted(z): print(k, z[k].dtype, z[k].shape, z[k].tolist())", path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ids int64 (3,) [-1, 0, 1099511627776]") ||
		!strings.Contains(string(out), "scalar float32 () 7.0") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestBadHeaders(t *testing.T) {
	for _, header := range []string{"", "{}", "{'descr': '<f4'}", "[1]", "{'descr': '<f4', 'descr': '<f4'}",
		"{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}",
		"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1}",
		"{'descr': '<f4' 'fortran_order': False, 'shape': ()}",
		"{'a': 1}", "{'descr' '<f4'}", "{'descr': '<f4}"} {
		if _, err := parseHeader(header, 4); err == nil {
			t.Errorf("%s was accepted", header)
		}
	}
	for _, b := range []string{"\x93NUMPY", "\x93NUMPY\x09\x00\x00\x00", "\x93NUMPY\x02\x00\xff\xff\xff\xff",
		"\x93NUMPY\x02\x00\x01", "\x93NUMPY\x01\x00\xff\xff{}"} {
		if _, err := readArray([]byte(b)); err == nil {
			t.Errorf("%q was accepted", b)
		}
	}
}

// TestUnpackedBound: the arrays that are read from an archive may together take a limited amount of memory. The limit
// grows with the archive's size. Reading one more array must fail if the arrays would then exceed the limit.
func TestUnpackedBound(t *testing.T) {
	bomb := filestest.Zeros("a", "|u1", 100<<20)
	z, err := read(bomb)
	if err != nil {
		t.Fatal(err)
	}
	if shape, err := z.Shape("a", 1); err != nil || shape[0] != 100<<20 {
		t.Errorf("the shape is %v, %v", shape, err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err = z.Int64s("a", 1)
	runtime.ReadMemStats(&after)
	mustFail(t, "100 MB from 100 kB, 800 MB as int64", err, "in memory, more than the limit of")
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes allocated", used)
	}
	a, b := filestest.NPY("|u1", false, "(2,)", []uint8{1, 2}), filestest.NPY("<f4", false, "(1,)", []float32{1})
	if z, err = read(filestest.Archive(filestest.Named("a", a), filestest.Named("b", b))); err != nil {
		t.Fatal(err)
	}
	z.taken["other"] = freeUnpacked + mostRatio*z.size - 20
	for range 2 { // an array that is read a second time is not counted again
		if _, _, err := z.Int64s("a", 1); err != nil {
			t.Error(err)
		}
	}
	_, _, err = z.Int64s("b", 1)
	mustFail(t, "beyond the sum", err, "more than the limit of")
}
