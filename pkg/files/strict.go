package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Strict parses text, which must be one JSON value, into v. Fields that v does not have, and a second value, are
// errors.
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
