package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
)

// encode writes the header, padded with spaces so that the values are aligned to 8 bytes, and the values.
func encode(w io.Writer, header map[string]any, arrays []Named) error {
	text, err := json.Marshal(header) // sorted by name
	if err != nil {
		return err
	}
	text = append(text, bytes.Repeat([]byte(" "), (8-len(text)%8)%8)...)
	if err := binary.Write(w, binary.LittleEndian, uint64(len(text))); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	for _, a := range arrays {
		if err := binary.Write(w, binary.LittleEndian, a.Values); err != nil {
			return err
		}
	}
	return nil
}
