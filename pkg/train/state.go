package train

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/revgnn/revgnn/pkg/files"
)

// stateMagic is the beginning of a checkpoint's file. It names the format and its version. The file is written by
// [files.WriteSealed], which appends a checksum. Before the checksum, the file has these parts, in this order:
//
//	stateMagic                       the format and its version
//	uint64                           the length of the header, little-endian
//	header                           a state, as JSON
//	bytes                            the arrays that the header lists, one after the other
const stateMagic = "revgnn checkpoint 1\n"

// state is what a checkpoint contains.
type state struct {
	Origin Origin `json:"origin"`
	// Result is the result of the training up to this checkpoint. Its field Seconds is the time that the training took
	// up to this checkpoint. Began is [Result].Began. History has an entry for each epoch that was run. BestVals has an
	// entry for each of these epochs, too: the best validation metric up to this epoch. These three are fields of their
	// own since the JSON of Result contains none of them.
	Result   Result    `json:"result"`
	Began    time.Time `json:"began"`
	History  []Epoch   `json:"history"`
	BestVals []Number  `json:"best_vals"`
	// Solve is the number of iterations of all solves in all epochs so far. Adjoint is the number of iterations of all
	// adjoint solves in all epochs so far. Patience is the number of epochs since the validation metric last improved.
	Solve    float64 `json:"solve"`
	Adjoint  float64 `json:"adjoint"`
	Patience int     `json:"patience"`
	Arrays   []array `json:"arrays"`
}

// array describes an array that a checkpoint contains, such as the value of a variable.
type array struct {
	Name  string `json:"name"`
	Shape string `json:"shape"`
	// bytes is the size of all values together, in bytes. The function write writes the values to a checkpoint. The
	// function set sets the values again: its argument has the bytes that write has written.
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

// readState reads a state from a file. It also returns the values of the state's arrays, as bytes. The function wanted
// gets the state, and returns the arrays that the file must contain. readState takes the sizes of arrays from wanted
// and not from the file. So a damaged file cannot make it allocate more memory than these arrays and the header need.
// If the content of the file is not what writeState wrote, or if the file contains other arrays, the error is a
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
	// The decoder stops at the end of the JSON value, which may be before the end of the header. So the reader named in
	// is set to the end of the header, where the arrays begin.
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
