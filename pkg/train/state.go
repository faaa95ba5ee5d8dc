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

// A checkpoint's file is written by [files.WriteSealed], which appends a checksum to this content:
//
//	stateMagic                       the format and its version
//	uint64                           the length of the header, little-endian
//	header                           a state, as JSON
//	bytes                            the arrays that the header lists, one after the other
const stateMagic = "revgnn checkpoint 1\n"

// state is the content of a checkpoint.
type state struct {
	Origin Origin `json:"origin"`
	// Result is the result so far; its Seconds are the time that the training has taken until now. History has the
	// epochs so far, and BestVals the best validation metric up to each of these epochs.
	Result   Result   `json:"result"`
	History  []Epoch  `json:"history"`
	BestVals []Number `json:"best_vals"`
	// Solve and Adjoint are the iterations of solves and of adjoint solves, summed over epochs. Patience counts the
	// epochs since the last improvement.
	Solve    float64 `json:"solve"`
	Adjoint  float64 `json:"adjoint"`
	Patience int     `json:"patience"`
	Arrays   []array `json:"arrays"`
}

// array is an array in memory whose bytes a checkpoint holds.
type array struct {
	Name  string `json:"name"`
	Shape string `json:"shape"`
	// bytes is the array's size in bytes, write writes its content, and set restores the array from what write wrote.
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
	return files.WriteSealed(path, func(w io.Writer) error {
		io.WriteString(w, stateMagic) // an error here is returned again by the writes below
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

// readState reads a state and the bytes of its arrays. wanted returns the arrays that the state must have. No more
// memory is allocated than these arrays and the header need. If the file is not as writeState wrote it, the error is a
// [damage].
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
	// The decoder may have buffered bytes after the JSON value; the arrays begin after the header.
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
