// Package raster turns the SVG of ECharts and of tables into PNG and PDF, in pure Go: no browser, no network, the same
// pixels everywhere. It knows the part of SVG 1.1 that ECharts writes: groups, rectangles, polygons, paths, embedded
// PNG images, single lines of text, linear gradients and clip paths, of which it takes the bounding box. Any other
// element is an error, so that nothing is missing without notice. The font, Liberation Sans, is as wide as Helvetica
// and Arial.
package raster

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	"github.com/srwiley/rasterx"
)

// PNG turns an SVG picture into a PNG image, and returns the contents of the image file. A square of one by one units
// of the picture becomes scale x scale pixels. PNG returns an error if the image would be less than one pixel wide or
// high, or would have more than 2^28 pixels.
func PNG(svg string, scale float64) ([]byte, error) {
	root, ids, err := parse(svg)
	if err != nil {
		return nil, err
	}
	width, height := root.number("width", 0)*scale, root.number("height", 0)*scale
	if !(width >= 1 && height >= 1 && width*height <= 1<<28) {
		return nil, fmt.Errorf("raster: a picture of %.0f x %.0f pixels can't be drawn: "+
			"choose a scale that gives 1 to 2^28 pixels", width, height)
	}
	c := &canvas{
		image: image.NewRGBA(image.Rect(0, 0, int(math.Round(width)), int(math.Round(height)))),
		ids:   ids,
		scale: scale,
	}
	c.clip = c.image.Bounds()
	draw.Draw(c.image, c.clip, image.White, image.Point{}, draw.Src)
	if err := c.children(root, rasterx.Identity.Scale(scale, scale)); err != nil {
		return nil, fmt.Errorf("raster: %w", err)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, c.image); err != nil {
		return nil, fmt.Errorf("raster: %w", err)
	}
	return b.Bytes(), nil
}

// canvas is an image or, if that is nil, a page of a PDF.
type canvas struct {
	image    *image.RGBA
	pdf      *fpdf.Fpdf
	pictures int // on the page so far
	clip     image.Rectangle
	ids      map[string]*element
	scale    float64 // pixels for each unit of the picture
}

func (c *canvas) children(e *element, m rasterx.Matrix2D) error {
	for _, child := range e.Children {
		if err := c.draw(child, m); err != nil {
			return fmt.Errorf("<%s>: %w", child.XMLName.Local, err)
		}
	}
	return nil
}

// draw paints an element. The argument m is the transform to pixels for the element that contains this one. draw
// combines m with the attribute "transform" of the element.
func (c *canvas) draw(e *element, m rasterx.Matrix2D) error {
	own, err := transform(e.attributes["transform"])
	if err != nil {
		return err
	}
	m = m.Mult(own)
	switch e.XMLName.Local {
	case "defs", "style": // defs has parts that other elements use; style has rules for the mouse
		return nil
	case "g":
		return c.group(e, m)
	case "text":
		return c.text(e, m)
	case "image":
		return c.picture(e, m)
	}
	outline, err := e.outline()
	if err != nil {
		return err
	}
	return c.shape(e, outline, m)
}

// group draws the elements in a group. If the group has a clip path, nothing outside the bounding box of this path is
// painted.
func (c *canvas) group(e *element, m rasterx.Matrix2D) error {
	before := c.clip
	defer func() { c.clip = before }()
	if address := e.attributes["clip-path"]; address != "" {
		clip, err := c.target(address)
		if err != nil {
			return err
		}
		var all bounds
		for _, part := range clip.Children {
			own, err := transform(part.attributes["transform"])
			if err != nil {
				return err
			}
			outline, err := part.outline()
			if err != nil {
				return err
			}
			all.add(outline.transformed(m.Mult(own)))
		}
		c.clip = c.clip.Intersect(all.pixels())
	}
	return c.children(e, m)
}

// target returns the element with the given address, which has the form "url(#id)".
func (c *canvas) target(address string) (*element, error) {
	id := strings.TrimSuffix(strings.TrimPrefix(address, "url(#"), ")")
	if e := c.ids[id]; e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("there is nothing at %s", address)
}

// shape fills and strokes an outline, as the attributes of the element say.
func (c *canvas) shape(e *element, outline path, m rasterx.Matrix2D) error {
	fill, err := c.paint(e, "fill", "#000", outline, m)
	if err != nil {
		return err
	}
	stroke, err := c.paint(e, "stroke", "none", outline, m)
	if err != nil {
		return err
	}
	outline = outline.transformed(m)
	if fill != nil {
		p := &painter{canvas: c}
		outline.addTo(rasterx.NewFiller(0, 0, p), true)
		p.paint(fill)
	}
	width := e.number("stroke-width", 1)
	if stroke == nil || width == 0 {
		return nil
	}
	unit := math.Sqrt(math.Abs(m.A*m.D - m.B*m.C))
	if e.attributes["vector-effect"] == "non-scaling-stroke" {
		unit = c.scale
	}
	p := &painter{canvas: c}
	pen := rasterx.NewDasher(0, 0, p)
	capOf := map[string]rasterx.CapFunc{"round": rasterx.RoundCap,
		"square": rasterx.SquareCap}[e.attributes["stroke-linecap"]]
	join := map[string]rasterx.JoinMode{"round": rasterx.Round,
		"bevel": rasterx.Bevel}[e.attributes["stroke-linejoin"]]
	if _, ok := e.attributes["stroke-linejoin"]; !ok {
		join = rasterx.Miter
	}
	var dashes []float64
	for _, d := range numbers(e.attributes["stroke-dasharray"]) {
		dashes = append(dashes, d*unit)
	}
	pen.SetStroke(fix(width*unit), 4<<6, capOf, capOf, nil, join, dashes, e.number("stroke-dashoffset", 0)*unit)
	outline.addTo(pen, false)
	p.paint(stroke)
	return nil
}

// paint returns the colour or the gradient that fills a shape (if name is "fill") or strokes it (if name is "stroke").
// The attribute called name says which colour or gradient this is. If the attribute is missing, the argument otherwise
// takes the place of its value. paint returns nil if nothing is to be painted.
func (c *canvas) paint(e *element, name, otherwise string, outline path, m rasterx.Matrix2D) (image.Image, error) {
	value, ok := e.attributes[name]
	if !ok {
		value = otherwise
	}
	opacity := e.number("opacity", 1) * e.number(name+"-opacity", 1)
	if value == "none" || opacity == 0 {
		return nil, nil
	}
	if strings.HasPrefix(value, "url(") {
		definition, err := c.target(value)
		if err != nil {
			return nil, err
		}
		return newGradient(definition, outline, m, opacity)
	}
	rgb, err := colour(value)
	if err != nil {
		return nil, err
	}
	rgb.A = uint8(float64(rgb.A)*opacity + 0.5)
	return image.NewUniform(color.NRGBA(rgb)), nil
}
