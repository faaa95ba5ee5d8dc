package npz

import (
	"fmt"
	"strconv"
	"strings"
)

// dictionary is the Python dictionary that the header of an .npy file consists of. It must have the keys descr,
// fortran_order and shape, and no others.
type dictionary struct {
	array   Array // only the type of its values is set
	fortran bool
	shape   []int64
	seen    map[string]bool
}

// parseHeader reads a header. It returns an array that has neither a shape nor values yet, and the shape that the
// header claims. The caller must check this shape.
func parseHeader(s string) (*Array, []int64, error) {
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != '{' || s[len(s)-1] != '}' {
		return nil, nil, damaged("not a dictionary")
	}
	s = strings.TrimSpace(s[1 : len(s)-1])
	h := dictionary{seen: map[string]bool{}}
	for s != "" {
		key, rest, err := h.key(s)
		if err != nil {
			return nil, nil, damaged(err.Error())
		}
		if s, err = h.value(key, rest); err != nil {
			return nil, nil, err
		}
		s = strings.TrimSpace(s)
		if rest, ok := strings.CutPrefix(s, ","); ok {
			s = strings.TrimSpace(rest)
		} else if s != "" {
			return nil, nil, damaged("no comma between entries")
		}
	}
	if len(h.seen) != 3 {
		return nil, nil, damaged("descr, fortran_order or shape is missing")
	}
	h.array.fortran = h.fortran
	return &h.array, h.shape, nil
}

func damaged(what string) error { return fmt.Errorf("has a damaged header (%s)", what) }

// key reads the next key of the dictionary from the beginning of s, and the colon after it. It returns the key and the
// rest of s. If the same key was read before, key returns an error.
func (h *dictionary) key(s string) (key, rest string, err error) {
	if key, rest, err = quoted(s); err != nil {
		return "", s, err
	}
	if h.seen[key] {
		return "", s, fmt.Errorf("%q twice", key)
	}
	h.seen[key] = true
	if !strings.HasPrefix(rest, ":") {
		return "", s, fmt.Errorf("no colon after a key")
	}
	return key, strings.TrimSpace(rest[1:]), nil
}

// value reads a value at the beginning of s, and stores it in the dictionary h. The argument key is the key that stands
// before the value. The result is the rest of s.
func (h *dictionary) value(key, s string) (rest string, err error) {
	switch key {
	case "descr":
		text, rest, err := quoted(s)
		if err != nil {
			return s, fmt.Errorf("has a structured or damaged type; supported are plain numbers and bool")
		}
		h.array, err = parseDescr(text)
		return rest, err
	case "fortran_order":
		var ok bool
		if rest, ok = strings.CutPrefix(s, "True"); ok {
			h.fortran = true
		} else if rest, ok = strings.CutPrefix(s, "False"); !ok {
			return s, damaged("fortran_order is neither True nor False")
		}
		return rest, nil
	case "shape":
		if h.shape, rest, err = parseTuple(s); err != nil {
			return s, damaged(err.Error())
		}
		return rest, nil
	}
	return s, damaged(fmt.Sprintf("unknown key %q", cut(key)))
}

// quoted reads a quoted Python string at the beginning of s. It returns the text between the quotes, and the rest of s.
// Strings with escapes are refused.
func quoted(s string) (value, rest string, err error) {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return "", s, fmt.Errorf("a quoted string is missing")
	}
	end := strings.IndexByte(s[1:], s[0])
	if end < 0 || strings.Contains(s[1:1+end], `\`) {
		return "", s, fmt.Errorf("a string does not end")
	}
	return s[1 : 1+end], strings.TrimSpace(s[end+2:]), nil
}

// parseTuple reads a tuple of integers at the beginning of s, such as "(10, 890)", "(5,)" or "()". It returns the
// integers and the rest of s. An integer may end with an L, since Python 2 writes long integers in this way.
func parseTuple(s string) (shape []int64, rest string, err error) {
	end := strings.IndexByte(s, ')')
	if !strings.HasPrefix(s, "(") || end < 0 {
		return nil, s, fmt.Errorf("the shape is not a tuple")
	}
	fields := strings.Split(s[1:end], ",")
	for i, f := range fields {
		f = strings.TrimSuffix(strings.TrimSpace(f), "L")
		if f == "" && i == len(fields)-1 {
			break
		}
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, s, fmt.Errorf("the shape holds %q, not a number", cut(f))
		}
		if shape = append(shape, n); len(shape) > maxDims {
			return nil, s, fmt.Errorf("the shape has more than %d dimensions", maxDims)
		}
	}
	return shape, s[end+1:], nil
}

// cut shortens text for an error message.
func cut(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
