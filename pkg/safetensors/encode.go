package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
)

// encode writes a file: first the header, and then the values of the arrays. The given header has zeros in place of the
// checksum. encode computes the checksum of the file, and puts it in place of the zeros.
func encode(w io.Writer, header map[string]any, arrays []Named) error {
	text, err := json.Marshal(header) // Marshal sorts the names, so that equal arrays give equal files
	if err != nil {
		return err
	}
	// The header is filled up with spaces, so that the values begin at a multiple of 8 bytes.
	text = append(text, bytes.Repeat([]byte(" "), (8-len(text)%8)%8)...)
	sum := sha256.New()
	sum.Write(frame(text))
	if err := writeValues(sum, arrays); err != nil {
		return err
	}
	if _, err := w.Write(frame(withSum(text, noSum, hex.EncodeToString(sum.Sum(nil))))); err != nil {
		return err
	}
	return writeValues(w, arrays)
}

// frame puts the length of a header, as eight bytes, before the header.
func frame(header []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
}

func writeValues(w io.Writer, arrays []Named) error {
	for _, a := range arrays {
		if err := binary.Write(w, binary.LittleEndian, a.Values); err != nil {
			return err
		}
	}
	return nil
}
