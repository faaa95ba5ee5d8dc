package filestest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
)

// NPY makes an .npy file. descr is the type in NumPy's notation, such as "<f4" for float32. The texts descr and shape
// are written into the header as they are, even if they do not agree with the values. If fortran is true, the header
// claims that the values are in Fortran order: a matrix is stored column by column.
func NPY(descr string, fortran bool, shape string, values any) []byte {
	order := "False"
	if fortran {
		order = "True"
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape)
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	if len(descr) > 0 && descr[0] == '>' {
		binary.Write(&b, binary.BigEndian, values)
	} else {
		binary.Write(&b, binary.LittleEndian, values)
	}
	return b.Bytes()
}

// Entry is one array of an archive: its name, and the content of its .npy file.
type Entry struct {
	Name string
	NPY  []byte
}

// Named returns an entry. If npy is nil and the entry is given to [Graph], Graph leaves out the array with this name.
func Named(name string, npy []byte) Entry { return Entry{name, npy} }

// Archive makes an .npz file of the given entries.
func Archive(entries ...Entry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.Create(e.Name + ".npy")
		if err == nil {
			_, err = f.Write(e.NPY)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Lying makes an archive of one array. The archive states packed as the size of the array's file within the archive,
// and claimed as the size after unpacking. Both sizes may be false. The archive states method as the method of
// compression, but has the content as it is given.
func Lying(name string, method uint16, claimed, packed uint64, content string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateRaw(&zip.FileHeader{Name: name + ".npy", Method: method, UncompressedSize64: claimed,
		CompressedSize64: packed})
	if err == nil {
		_, err = f.Write([]byte(content))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Graph makes the archive of a valid graph of three nodes, with the array names that Platonov et al. use. A replacement
// takes the place of the array with the same name. If the replacement's NPY is nil, the archive lacks this array.
func Graph(replacements ...Entry) []byte {
	entries := []Entry{
		{"node_features", NPY("<f4", false, "(3, 2)", []float32{1, 2, 3, 4, 5, 6})},
		{"node_labels", NPY("<i8", false, "(3,)", []int64{0, 1, 0})},
		{"edges", NPY("<i4", false, "(2, 2)", []int32{0, 1, 2, 1})},
		{"train_masks", NPY("|b1", false, "(1, 3)", []bool{true, false, false})},
		{"val_masks", NPY("|b1", false, "(1, 3)", []bool{false, true, false})},
		{"test_masks", NPY("|b1", false, "(1, 3)", []bool{false, false, true})},
	}
	var out []Entry
	for _, e := range entries {
		for _, r := range replacements {
			if r.Name == e.Name {
				e = r
			}
		}
		if e.NPY != nil {
			out = append(out, e)
		}
	}
	return Archive(out...)
}

// Zeros makes an archive of one array, which has n zeros of the type descr (such as "<f4" for float32). The archive is
// small, since it is compressed.
func Zeros(name, descr string, n int) []byte {
	size := int(descr[2] - '0')
	return Archive(Named(name, NPY(descr, false, fmt.Sprintf("(%d,)", n), make([]byte, n*size))))
}
