package raster

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"

	"github.com/srwiley/rasterx"
	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// painter is a rasterx.Scanner: rasterx turns outlines into lines and passes them to Start and Line.
type painter struct {
	canvas *canvas
	lines  []line
	extent fixed.Rectangle26_6
}

type line struct {
	start bool
	to    fixed.Point26_6
}

func (p *painter) Start(a fixed.Point26_6) { p.add(line{true, a}) }
func (p *painter) Line(b fixed.Point26_6)  { p.add(line{false, b}) }

func (p *painter) add(l line) {
	if len(p.lines) == 0 {
		p.extent = fixed.Rectangle26_6{Min: l.to, Max: l.to}
	}
	p.lines = append(p.lines, l)
	p.extent.Min.X, p.extent.Max.X = min(p.extent.Min.X, l.to.X), max(p.extent.Max.X, l.to.X)
	p.extent.Min.Y, p.extent.Max.Y = min(p.extent.Min.Y, l.to.Y), max(p.extent.Max.Y, l.to.Y)
}

func (p *painter) GetPathExtent() fixed.Rectangle26_6 { return p.extent }

// painter has these methods only because the interface rasterx.Scanner requires them. They do nothing.
func (p *painter) Draw()                   {}
func (p *painter) Clear()                  {}
func (p *painter) SetBounds(w, h int)      {}
func (p *painter) SetColor(c interface{})  {}
func (p *painter) SetWinding(nonZero bool) {}
func (p *painter) SetClip(image.Rectangle) {}

// paint fills the outline by the non-zero winding rule, SVG's default.
func (p *painter) paint(source image.Image) {
	box := image.Rect(p.extent.Min.X.Floor(), p.extent.Min.Y.Floor(), p.extent.Max.X.Ceil(), p.extent.Max.Y.Ceil())
	visible := box.Intersect(p.canvas.clip)
	if visible.Empty() {
		return
	}
	if p.canvas.pdf != nil {
		p.print(source)
		return
	}
	mask := image.NewAlpha(image.Rect(0, 0, box.Dx(), box.Dy()))
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	at := func(q fixed.Point26_6) (x, y float32) {
		return float32(q.X)/64 - float32(box.Min.X), float32(q.Y)/64 - float32(box.Min.Y)
	}
	for _, l := range p.lines {
		if x, y := at(l.to); l.start {
			r.MoveTo(x, y)
		} else {
			r.LineTo(x, y)
		}
	}
	r.Draw(mask, mask.Bounds(), image.Opaque, image.Point{})
	draw.DrawMask(p.canvas.image, visible, source, visible.Min, mask, visible.Min.Sub(box.Min), draw.Over)
}

// gradient is a linear gradient: colours at places from 0 to 1 on a line, in the box of the shape.
type gradient struct {
	box            bounds
	back           rasterx.Matrix2D // the transform from pixels to the units of the shape
	x1, y1, dx, dy float64          // start and direction of the line, in units of the box's width and height
	at             []float64
	colours        []color.NRGBA
}

func newGradient(e *element, outline path, m rasterx.Matrix2D, opacity float64) (*gradient, error) {
	if e.XMLName.Local != "linearGradient" || e.attributes["gradientUnits"] != "objectBoundingBox" || len(e.Children) == 0 {
		return nil, fmt.Errorf("<%s> is no linear gradient within a bounding box", e.XMLName.Local)
	}
	g := &gradient{back: m.Invert(), x1: e.number("x1", 0), y1: e.number("y1", 0)}
	g.box.add(outline)
	g.dx, g.dy = e.number("x2", 1)-g.x1, e.number("y2", 0)-g.y1
	for _, stop := range e.Children {
		c, err := colour(stop.attributes["stop-color"])
		if err != nil {
			return nil, err
		}
		c.A = uint8(float64(c.A)*opacity*stop.number("stop-opacity", 1) + 0.5)
		g.colours = append(g.colours, c)
		offset := 0.0
		if v := numbers(strings.TrimSuffix(stop.attributes["offset"], "%")); len(v) == 1 {
			offset = v[0] / 100
		}
		g.at = append(g.at, offset)
	}
	return g, nil
}

func (g *gradient) ColorModel() color.Model { return color.NRGBAModel }
func (g *gradient) Bounds() image.Rectangle { return image.Rect(-1e9, -1e9, 1e9, 1e9) }

// At is the colour at the lower of two places; ECharts writes a hundred, too close to see steps.
func (g *gradient) At(x, y int) color.Color {
	u, v := g.back.Transform(float64(x)+0.5, float64(y)+0.5)
	u, v = (u-g.box.left)/(g.box.right-g.box.left), (v-g.box.top)/(g.box.down-g.box.top)
	t := ((u-g.x1)*g.dx + (v-g.y1)*g.dy) / (g.dx*g.dx + g.dy*g.dy)
	for i, end := range g.at {
		if t < end {
			return g.colours[max(0, i-1)]
		}
	}
	return g.colours[len(g.colours)-1]
}

// picture draws an embedded PNG image. Each pixel of the image becomes a rectangle with sharp edges, as with the CSS
// property "image-rendering: pixelated".
func (c *canvas) picture(e *element, m rasterx.Matrix2D) error {
	data, ok := strings.CutPrefix(e.attributes["href"], "data:image/png;base64,")
	if !ok {
		return fmt.Errorf("only PNG data inside the picture itself can be drawn")
	}
	file, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return err
	}
	source, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return err
	}
	size := source.Bounds().Size()
	m = m.Translate(e.number("x", 0), e.number("y", 0)).
		Scale(e.number("width", 0)/float64(size.X), e.number("height", 0)/float64(size.Y))
	if c.pdf != nil {
		return c.printPicture(file, size, m)
	}
	target, ok := c.image.SubImage(c.clip).(draw.Image)
	if !ok {
		return nil // no part of the image is inside the clip
	}
	xdraw.NearestNeighbor.Transform(target, f64.Aff3{m.A, m.C, m.E, m.B, m.D, m.F}, source,
		source.Bounds(), xdraw.Over, nil)
	return nil
}
