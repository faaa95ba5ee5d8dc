package raster

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"strconv"
	"strings"
	"unicode"

	"github.com/srwiley/rasterx"
)

// element is an element with its attributes; properties in "style" count as such.
type element struct {
	XMLName    xml.Name
	Written    []xml.Attr `xml:",any,attr"`
	Text       string     `xml:",chardata"`
	Children   []*element `xml:",any"`
	attributes map[string]string
}

// parse returns the element <svg>, and the elements that have an id.
func parse(svg string) (root *element, ids map[string]*element, err error) {
	root, ids = &element{}, map[string]*element{}
	if err := xml.Unmarshal([]byte(svg), root); err != nil {
		return nil, nil, fmt.Errorf("raster: the picture is not XML: %w", err)
	}
	if root.XMLName.Local != "svg" {
		return nil, nil, fmt.Errorf("raster: the picture is no SVG: it has no <svg> around everything")
	}
	root.read(ids)
	return root, ids, nil
}

// read sets the attributes of the element and of all within it, and notes their ids.
func (e *element) read(ids map[string]*element) {
	e.attributes = map[string]string{}
	for _, a := range e.Written {
		e.attributes[a.Name.Local] = a.Value
	}
	for _, property := range strings.Split(e.attributes["style"], ";") {
		if name, value, ok := strings.Cut(property, ":"); ok {
			e.attributes[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	if id := e.attributes["id"]; id != "" {
		ids[id] = e
	}
	for _, child := range e.Children {
		child.read(ids)
	}
}

// number is an attribute without "px", or otherwise.
func (e *element) number(name string, otherwise float64) float64 {
	v, ok := e.attributes[name]
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(v, "px"), 64)
	if err != nil {
		return otherwise
	}
	return n
}

// numbers reads what commas or spaces separate, up to the first that is no number.
func numbers(text string) []float64 {
	var list []float64
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || unicode.IsSpace(c) }) {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			break
		}
		list = append(list, v)
	}
	return list
}

func transform(text string) (rasterx.Matrix2D, error) {
	m := rasterx.Identity
	for text = strings.TrimSpace(text); text != ""; {
		name, rest, _ := strings.Cut(text, "(")
		arguments, after, ok := strings.Cut(rest, ")")
		if !ok {
			return m, fmt.Errorf("the transform %q has no end", text)
		}
		text = strings.TrimLeft(after, " ,")
		v := numbers(arguments)
		switch {
		case name == "matrix" && len(v) == 6:
			m = m.Mult(rasterx.Matrix2D{A: v[0], B: v[1], C: v[2], D: v[3], E: v[4], F: v[5]})
		case name == "translate" && len(v) == 2:
			m = m.Translate(v[0], v[1])
		case name == "scale" && len(v) == 2:
			m = m.Scale(v[0], v[1])
		default:
			return m, fmt.Errorf("the transform %s(%s) is not known", name, arguments)
		}
	}
	return m, nil
}

// colour reads #rgb, #rrggbb, rgb(...) or rgba(...).
func colour(text string) (color.NRGBA, error) {
	if digits, ok := strings.CutPrefix(text, "#"); ok {
		if len(digits) == 3 {
			digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
		}
		if v, err := strconv.ParseUint(digits, 16, 24); err == nil && len(digits) == 6 {
			return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}, nil
		}
	}
	if _, arguments, ok := strings.Cut(text, "("); ok && strings.HasPrefix(text, "rgb") {
		if v := numbers(strings.TrimSuffix(arguments, ")")); len(v) == 3 {
			return color.NRGBA{uint8(v[0]), uint8(v[1]), uint8(v[2]), 255}, nil
		} else if len(v) == 4 {
			return color.NRGBA{uint8(v[0]), uint8(v[1]), uint8(v[2]), uint8(255*v[3] + 0.5)}, nil
		}
	}
	return color.NRGBA{}, fmt.Errorf("the colour %q is not known", text)
}
