package train

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/revgnn/revgnn/pkg/files"
)

// A checkpoint's file is written by [files.WriteSealed], which appends a checksum. The content before the checksum is:
//
//	stateMagic                       the format and its version
//	uint64                           the length of the header, little-endian
//	header                           a state, as JSON
//	bytes                            the arrays that the header lists, one after the other
const stateMagic = "revgnn checkpoint 1\n"

// state is what a checkpoint contains.
type state struct {
	Origin Origin `json:"origin"`
	// Result is the result so far. Its field Seconds is the time that the training has taken until now. History has the
	// epochs so far. BestVals has one entry for each of these epochs: the best validation metric until then.
	Result   Result   `json:"result"`
	History  []Epoch  `json:"history"`
	BestVals []Number `json:"best_vals"`
	// Solve is the number of iterations of all solves in all epochs so far, and Adjoint that of all adjoint solves.
	// Patience is the number of epochs since the validation metric improved.
	Solve    float64 `json:"solve"`
	Adjoint  float64 `json:"adjoint"`
	Patience int     `json:"patience"`
	Arrays   []array `json:"arrays"`
}

// array is an array of the training whose values a checkpoint contains.
type array struct {
	Name  string `json:"name"`
	Shape string `json:"shape"`
	// bytes is the size of the values in bytes. write writes the values to a checkpoint. set restores the values from
	// the bytes that write has written.
	bytes int
	write func(io.Writer) error
	set   func([]byte) error
}

// writeState writes a state and the values of its arrays to a file.
func writeState(path string, s state) error {
	header, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return files.WriteSealed(path, func(w io.Writer) error {
		io.WriteString(w, stateMagic) // If this write fails, so do the later ones.
		binary.Write(w, binary.LittleEndian, uint64(len(header)))
		w.Write(header)
		for _, a := range s.Arrays {
			if err := a.write(w); err != nil {
				return fmt.Errorf("%s: %w", a.Name, err)
			}
		}
		return nil
	})
}

// damage is the error for a checkpoint whose content is not what writeState wrote.
type damage struct{ error }

// readState reads a state from a file, and returns it with the values of its arrays as bytes. It calls the function
// wanted with the state, and wanted returns the arrays that the state must have. Whatever the file contains, readState
// allocates no more memory than these arrays and the header need. If the content of the file is not what writeState
// wrote, the error is a [damage].
func readState(path string, wanted func(state) []array) (s state, content [][]byte, err error) {
	f, err := files.OpenSealed(path, "a file that revgnn wrote")
	var changed *files.DamageError
	if errors.As(err, &changed) {
		return s, nil, damage{err}
	}
	if err != nil {
		return s, nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	magic := make([]byte, len(stateMagic))
	var length uint64
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != stateMagic {
		return s, nil, damage{errors.New("it is of another format")}
	}
	if err := binary.Read(in, binary.LittleEndian, &length); err != nil || length > uint64(f.Size()) {
		return s, nil, damage{errors.New("its header is too long")}
	}
	if err := json.NewDecoder(io.LimitReader(in, int64(length))).Decode(&s); err != nil {
		return s, nil, damage{err}
	}
	// The decoder may have read more than the header. So in is set to the end of the header, where the arrays begin.
	start := int64(len(stateMagic)+8) + int64(length)
	in.Reset(io.NewSectionReader(f, start, f.Size()-start))
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
