package train

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/revgnn/revgnn/pkg/files"
)

// A checkpoint's file is
//
//	stateMagic                       the format and its version
//	uint64                           the length of the header, little-endian
//	header                           a state, as JSON
//	bytes                            the arrays that the header lists, one after the other
//	[32]byte                         SHA-256 of all that comes before
const stateMagic = "revgnn checkpoint 1\n"

// state is what a checkpoint holds.
type state struct {
	Origin Origin `json:"origin"`
	// Result so far, with Seconds until now, History, and the best validation metric after each of its epochs.
	Result   Result   `json:"result"`
	History  []Epoch  `json:"history"`
	BestVals []Number `json:"best_vals"`
	// Sums over epochs, and the epochs since the last improvement.
	Solve    float64 `json:"solve"`
	Adjoint  float64 `json:"adjoint"`
	Patience int     `json:"patience"`
	Arrays   []array `json:"arrays"`
}

// array is an array in memory that a checkpoint holds the bytes of.
type array struct {
	Name  string `json:"name"`
	Shape string `json:"shape"`
	// bytes is its size; write writes it, and set gives it the bytes that write wrote.
	bytes int
	write func(io.Writer) error
	set   func([]byte) error
}

// writeState writes a state and its arrays.
func writeState(path string, s state) error {
	header, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return files.Write(path, func(to io.Writer) error {
		return sealed(to, func(w io.Writer) error {
			io.WriteString(w, stateMagic) // a failure is told by sealed
			binary.Write(w, binary.LittleEndian, uint64(len(header)))
			w.Write(header)
			for _, a := range s.Arrays {
				if err := a.write(w); err != nil {
					return fmt.Errorf("%s: %w", a.Name, err)
				}
			}
			return nil
		})
	})
}

// sealed writes something, and then its sum.
func sealed(to io.Writer, write func(io.Writer) error) error {
	sum := sha256.New()
	w := bufio.NewWriter(io.MultiWriter(to, sum))
	if err := errors.Join(write(w), w.Flush()); err != nil {
		return err
	}
	_, err := to.Write(sum.Sum(nil))
	return err
}

// damage is what is wrong with a checkpoint that is not as it was written.
type damage struct{ error }

// readState reads a state, and its arrays' bytes. wanted are the arrays that such a state has; it may allocate as much
// as they and the header need. A file that is not as writeState wrote it is a [damage].
func readState(path string, wanted func(state) []array) (s state, content [][]byte, err error) {
	f, size, err := files.Open(path, "a file that revgnn wrote")
	if err != nil {
		return s, nil, err
	}
	defer f.Close()
	if err := checkSum(f, size); err != nil {
		return s, nil, damage{err}
	}
	in := bufio.NewReader(io.NewSectionReader(f, 0, size-sha256.Size))
	magic := make([]byte, len(stateMagic))
	var length uint64
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != stateMagic {
		return s, nil, damage{errors.New("it is of another format")}
	}
	if err := binary.Read(in, binary.LittleEndian, &length); err != nil || length > uint64(size) {
		return s, nil, damage{errors.New("its header is too long")}
	}
	if err := json.NewDecoder(io.LimitReader(in, int64(length))).Decode(&s); err != nil {
		return s, nil, damage{err}
	}
	// The decoder may have read beyond the value, but not beyond the header.
	start := int64(len(stateMagic)+8) + int64(length)
	in.Reset(io.NewSectionReader(f, start, size-sha256.Size-start))
	list := wanted(s)
	if len(list) != len(s.Arrays) {
		return s, nil, damage{fmt.Errorf("it has %d arrays, not %d", len(s.Arrays), len(list))}
	}
	for i, a := range list {
		if kept := s.Arrays[i]; kept.Name != a.Name || kept.Shape != a.Shape {
			return s, nil, damage{fmt.Errorf("it has %q of shape %s, not %q of shape %s",
				kept.Name, kept.Shape, a.Name, a.Shape)}
		}
		b := make([]byte, a.bytes)
		if _, err := io.ReadFull(in, b); err != nil {
			return s, nil, damage{err}
		}
		content = append(content, b)
	}
	return s, content, nil
}

// checkSum compares the end of a file with the sum of the rest.
func checkSum(f io.ReaderAt, size int64) error {
	if size < sha256.Size {
		return errors.New("it is cut short")
	}
	sum, kept := sha256.New(), make([]byte, sha256.Size)
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size-sha256.Size)); err != nil {
		return err
	}
	if _, err := f.ReadAt(kept, size-sha256.Size); err != nil && err != io.EOF {
		return err
	}
	if !bytes.Equal(kept, sum.Sum(nil)) {
		return errors.New("its checksum is wrong")
	}
	return nil
}
