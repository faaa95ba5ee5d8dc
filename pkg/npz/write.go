package npz

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
)

// Named is an array to write. Values is a []float32, []int32, []int64 or []bool in C order, with as many values as
// Shape says. An empty Shape stands for a single value.
type Named struct {
	Name   string
	Shape  []int
	Values any
}

// Write writes an archive, which numpy.load can read, as a whole or not at all ([files.Write]). Equal arrays give equal
// bytes. Arrays are not compressed, which hardly makes the weights of models smaller.
func Write(path string, arrays []Named) error {
	return files.Write(path, func(w io.Writer) error {
		z := zip.NewWriter(w)
		seen := map[string]bool{}
		for _, a := range arrays {
			if seen[a.Name] || a.Name == "" {
				return fmt.Errorf("array %q has no name of its own", a.Name)
			}
			seen[a.Name] = true
			header, err := a.header()
			if err != nil {
				return fmt.Errorf("array %q %w", a.Name, err)
			}
			// The entry gets no date, so that equal arrays always give equal bytes.
			entry, err := z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: zip.Store})
			if err != nil {
				return err
			}
			if _, err := io.WriteString(entry, header); err != nil {
				return err
			}
			if err := binary.Write(entry, binary.LittleEndian, a.Values); err != nil {
				return err
			}
		}
		return z.Close()
	})
}

// header is what stands before the values, in version 1.0 of the format, with spaces so that the values begin at a
// multiple of 64 bytes.
func (a Named) header() (string, error) {
	var descr string
	var count int
	switch v := a.Values.(type) {
	case []float32:
		descr, count = "<f4", len(v)
	case []int32:
		descr, count = "<i4", len(v)
	case []int64:
		descr, count = "<i8", len(v)
	case []bool:
		descr, count = "|b1", len(v)
	default:
		return "", fmt.Errorf("has the type %T; supported are []float32, []int32, []int64 and []bool", v)
	}
	if want, err := checkShape(a.Shape); err != nil {
		return "", err
	} else if want != count {
		return "", fmt.Errorf("has %d values for the shape %v", count, a.Shape)
	}
	tuple := strings.ReplaceAll(strings.Trim(fmt.Sprint(a.Shape), "[]"), " ", ", ")
	if len(a.Shape) == 1 {
		tuple += ","
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, tuple)
	const prefix = 10
	pad := 63 - (prefix+len(head))%64
	head += strings.Repeat(" ", pad) + "\n"
	return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(head)))) + head, nil
}
