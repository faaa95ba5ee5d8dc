package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Strict parses a JSON text into v. It returns an error if the text has a field that v does not have, or if another
// value follows the first.
func Strict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}
