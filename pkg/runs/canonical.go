package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Key returns the SHA-256 of a definition's canonical JSON in hex digits: the members of objects are sorted, there is
// no white space, and equal numbers are written equally.
func Key(definition any) (string, error) {
	raw, err := json.Marshal(definition)
	if err != nil {
		return "", fmt.Errorf("a run's definition cannot be written as JSON: %w", err)
	}
	b, err := canonical(raw)
	if err != nil {
		return "", fmt.Errorf("a run's definition: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// canonical returns the canonical form of a JSON value; nil if raw is empty or null.
func canonical(raw []byte) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not JSON: more than one value")
	}
	if v == nil {
		return nil, nil
	}
	v, err := oneSpelling(v)
	if err != nil {
		return nil, err
	}
	return marshal(v)
}

// oneSpelling turns numbers with a point or an exponent into float64, so that 5e-3 and 0.005 are written equally.
// Integers stay, since a float64 cannot hold all digits of a large one.
func oneSpelling(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			return v, nil
		}
		f, err := strconv.ParseFloat(v.String(), 64)
		if err != nil {
			return nil, fmt.Errorf("the number %s does not fit 64 bits", v)
		}
		return f, nil
	case []any:
		for i := range v {
			if v[i], err = oneSpelling(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = oneSpelling(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// marshal is json.Marshal without escapes of <, > and &.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
