package raster

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/srwiley/rasterx"
)

// pointsPerPixel is the size of a pixel on a page, in PDF's points, at scale 1: CSS has 96 pixels to an inch of 72
// points.
const pointsPerPixel = 0.75

// PDF turns an SVG picture into a PDF of one page, of the picture's size, and returns the contents of the file. Lines
// and texts are filled outlines, which stay sharp at every size.
func PDF(svg string) ([]byte, error) {
	root, ids, err := parse(svg)
	if err != nil {
		return nil, err
	}
	width, height := root.number("width", 0), root.number("height", 0)
	if !(width >= 1 && height >= 1 && width <= 1<<14 && height <= 1<<14) {
		return nil, fmt.Errorf("raster: a page of %.0f x %.0f pixels can't be drawn: choose sizes from 1 to 2^14", width,
			height)
	}
	const scale = 16 // coordinates are rounded to 1/64 of a pixel at this scale
	f := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt",
		Size: fpdf.SizeType{Wd: width * pointsPerPixel, Ht: height * pointsPerPixel}})
	f.SetCatalogSort(true) // equal pictures give equal files
	f.SetCreationDate(time.Unix(0, 0))
	f.SetModificationDate(time.Unix(0, 0))
	f.SetAutoPageBreak(false, 0)
	f.AddPage()
	c := &canvas{pdf: f, ids: ids, scale: scale,
		clip: image.Rect(0, 0, int(math.Ceil(width*scale)), int(math.Ceil(height*scale)))}
	if err := c.children(root, rasterx.Identity.Scale(scale, scale)); err != nil {
		return nil, fmt.Errorf("raster: %w", err)
	}
	var b bytes.Buffer
	if err := f.Output(&b); err != nil {
		return nil, fmt.Errorf("raster: %w", err)
	}
	return b.Bytes(), nil
}

// points are pixels of the canvas as points of the page.
func (c *canvas) points(pixels float64) float64 { return pixels / c.scale * pointsPerPixel }

// clipped calls draw, which can paint only what is inside the clip.
func (c *canvas) clipped(draw func(f *fpdf.Fpdf)) {
	at, size := c.clip.Min, c.clip.Size()
	c.pdf.ClipRect(c.points(float64(at.X)), c.points(float64(at.Y)), c.points(float64(size.X)), c.points(float64(size.Y)),
		false)
	draw(c.pdf)
	c.pdf.ClipEnd()
}

// print is [painter.paint] on a page.
func (p *painter) print(source image.Image) {
	c := p.canvas
	set := func(f *fpdf.Fpdf, of color.Color) {
		rgb := color.NRGBAModel.Convert(of).(color.NRGBA)
		f.SetFillColor(int(rgb.R), int(rgb.G), int(rgb.B))
		f.SetAlpha(float64(rgb.A)/255, "Normal")
	}
	c.clipped(func(f *fpdf.Fpdf) {
		g, shaded := source.(*gradient)
		if !shaded {
			set(f, source.At(0, 0))
			for i, l := range p.lines {
				x, y := c.points(float64(l.to.X)/64), c.points(float64(l.to.Y)/64)
				switch {
				case !l.start:
					f.LineTo(x, y)
				case i > 0:
					f.ClosePath()
					fallthrough
				default:
					f.MoveTo(x, y)
				}
			}
			f.ClosePath()
			f.DrawPath("F")
			return
		}
		// A gradient is painted in bands across its direction, as the shapes with gradients here are rectangles.
		box, bands := p.extent, len(g.at)
		left, top := float64(box.Min.X)/64, float64(box.Min.Y)/64
		width, height := float64(box.Max.X-box.Min.X)/64, float64(box.Max.Y-box.Min.Y)/64
		middle := int(top + height/2) // on the page, a turned shape may have another direction than its own
		across := g.At(int(left), middle) != g.At(int(left+width)-1, middle)
		for k := range bands {
			x, y, w, h := left, top+height*float64(k)/float64(bands), width, height/float64(bands)
			if across {
				x, y, w, h = left+width*float64(k)/float64(bands), top, width/float64(bands), height
			}
			set(f, g.At(int(x+w/2), int(y+h/2)))
			f.Rect(c.points(x), c.points(y), c.points(w), c.points(h), "F")
		}
	})
}

// printPicture is [canvas.picture] on a page, for a PNG file of this size in pixels.
func (c *canvas) printPicture(file []byte, size image.Point, m rasterx.Matrix2D) error {
	if m.B != 0 || m.C != 0 {
		return fmt.Errorf("a turned picture can't be drawn")
	}
	c.clipped(func(f *fpdf.Fpdf) {
		name, options := fmt.Sprintf("picture %d", c.pictures), fpdf.ImageOptions{ImageType: "png"}
		c.pictures++
		f.SetAlpha(1, "Normal")
		f.RegisterImageOptionsReader(name, options, bytes.NewReader(file))
		f.ImageOptions(name, c.points(m.E), c.points(m.F), c.points(m.A*float64(size.X)), c.points(m.D*float64(size.Y)),
			false, options, 0, "")
	})
	return nil
}
