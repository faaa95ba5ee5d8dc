package raster

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/srwiley/rasterx"
)

// element is an element with its attributes; properties in "style" count as such.
type element struct {
	name       string
	attributes map[string]string
	text       string
	children   []*element
}

func parse(svg string) (*element, error) {
	top := &element{}
	open := []*element{top}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("raster: the picture is not XML: %w", err)
		}
		last := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			e := &element{name: t.Name.Local, attributes: map[string]string{}}
			for _, a := range t.Attr {
				if a.Name.Local == "style" {
					e.style(a.Value)
				} else {
					e.attributes[a.Name.Local] = a.Value
				}
			}
			last.children = append(last.children, e)
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			last.text += string(t)
		}
	}
	if len(top.children) != 1 || top.children[0].name != "svg" {
		return nil, fmt.Errorf("raster: the picture is no SVG: it has no <svg> around everything")
	}
	return top.children[0], nil
}

func (e *element) style(text string) {
	for _, property := range strings.Split(text, ";") {
		if name, value, ok := strings.Cut(property, ":"); ok {
			e.attributes[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
}

func (e *element) index(ids map[string]*element) {
	if id := e.attributes["id"]; id != "" {
		ids[id] = e
	}
	for _, child := range e.children {
		child.index(ids)
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
