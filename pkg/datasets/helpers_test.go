package datasets

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// Short names for functions of package filestest.
var (
	entry   = filestest.Named
	npy     = filestest.NPY
	archive = filestest.Archive
	tiny    = filestest.Graph
)

// tinyBenchmark returns an archive with a valid graph of three nodes, in the format that [benchmarkGraph] reads.
func tinyBenchmark() []byte {
	return archive(
		entry("adj_data", npy("<f4", false, "(3,)", []float32{1, 2, 1})),
		entry("adj_indices", npy("<i4", false, "(3,)", []int32{1, 0, 2})),
		entry("adj_indptr", npy("<i4", false, "(4,)", []int32{0, 1, 2, 3})),
		entry("adj_shape", npy("<i8", false, "(2,)", []int64{3, 3})),
		entry("attr_data", npy("<f4", false, "(2,)", []float32{3, 1})),
		entry("attr_indices", npy("<i4", false, "(2,)", []int32{1, 0})),
		entry("attr_indptr", npy("<i4", false, "(4,)", []int32{0, 1, 1, 2})),
		entry("attr_shape", npy("<i8", false, "(2,)", []int64{3, 2})),
		entry("labels", npy("<i8", false, "(3,)", []int64{0, 1, 1})),
	)
}

// The following functions return instructions of pickles, as Python 2 writes them.

func pInt(n int) string { return "J" + string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }

func pString(s string) string {
	return "T" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

// pArray returns the instructions of a pickle that make a NumPy array with the given values and shape. These
// instructions call NumPy's function _reconstruct, and then set the content of the array. The argument code is the type
// of the numbers, for example "i4" for integers of four bytes.
func pArray(code string, values any, shape ...int) string {
	var raw bytes.Buffer
	if err := binary.Write(&raw, binary.LittleEndian, values); err != nil {
		panic(err)
	}
	dims := ""
	for _, d := range shape {
		dims += pInt(d)
	}
	dtype := "cnumpy\ndtype\n(" + pString(code) + "K\x00K\x01tR(K\x03" + pString("<") +
		"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
	return "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85" + pString("b") + "tR" +
		"(K\x01(" + dims + "t" + dtype + "\x89" + pString(raw.String()) + "tb"
}

func pCSR(rows, columns int, indptr, indices []int32, values []float32) string {
	return "cscipy.sparse.csr\ncsr_matrix\n)\x81}(" +
		pString("_shape") + "(" + pInt(rows) + pInt(columns) + "t" +
		pString("indptr") + pArray("i4", indptr, len(indptr)) +
		pString("indices") + pArray("i4", indices, len(indices)) +
		pString("data") + pArray("f4", values, len(values)) + "ub"
}

// pickled makes a whole pickle from the instructions s. It puts a header before them, which says that the pickle has
// version 2 of the pickle format. It puts the instruction STOP after them.
func pickled(s string) []byte { return []byte("\x80\x02" + s + ".") }

// tinyPlanetoid returns the files of a valid dataset with five nodes (see planetoidGraph). The file allx has the nodes
// 0 and 1, and tx has the test nodes 4 and 2. No file has features or a label for node 3.
func tinyPlanetoid() map[string][]byte {
	return map[string][]byte{
		"allx":       pickled(pCSR(2, 2, []int32{0, 1, 2}, []int32{0, 1}, []float32{1, 2})),
		"tx":         pickled(pCSR(2, 2, []int32{0, 1, 3}, []int32{1, 0, 1}, []float32{3, 4, 5})),
		"ally":       pickled(pArray("i4", []int32{0, 0, 1, 1, 0, 0}, 2, 3)),
		"ty":         pickled(pArray("i4", []int32{0, 1, 0, 0, 0, 1}, 2, 3)),
		"test.index": []byte("4\n2\n"),
		"graph": pickled("ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(" +
			"K\x00](K\x01K\x04e" + "K\x01]K\x00a" + "K\x02]" + "K\x03](K\x03e" + "K\x04](K\x00K\x02eu"),
	}
}

// mustFail checks that err is not nil, that its message contains the text want, and that the message has only one line.
// The argument what names the case that is tested.
func mustFail(t *testing.T, what string, err error, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%s: no error", what)
	case !bytes.Contains([]byte(err.Error()), []byte(want)):
		t.Errorf("%s: the error is %q, which lacks %q", what, err, want)
	case bytes.ContainsAny([]byte(err.Error()), "\n\r"):
		t.Errorf("%s: the error has several lines: %q", what, err)
	}
}
