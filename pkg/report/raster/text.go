package raster

import (
	"fmt"
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"github.com/srwiley/rasterx"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

var (
	regular = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(liberationsansregular.TTF) })
	bold    = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(liberationsansbold.TTF) })
)

// em is the font size at which outlines are read, large since the library rounds to 1/64 pixel.
const em = 1024

// middle is half way between the highest and lowest point of characters, above the baseline, in font sizes;
// "dominant-baseline: central" puts it at y.
const middle = (0.905 - 0.212) / 2

func (c *canvas) text(e *element, m rasterx.Matrix2D) error {
	if len(e.Children) > 0 {
		return fmt.Errorf("only single lines of text can be drawn")
	}
	outline, width, err := setText(strings.TrimSpace(e.Text), e.attributes["font-weight"] == "bold")
	if err != nil {
		return fmt.Errorf("%q: %w", e.Text, err)
	}
	size := e.number("font-size", 12)
	left := map[string]float64{"middle": -width / 2, "end": -width}[e.attributes["text-anchor"]]
	down := 0.0
	if e.attributes["dominant-baseline"] == "central" {
		down = middle
	}
	m = m.Translate(e.number("x", 0), e.number("y", 0)).Scale(size, size).Translate(left, down)
	return c.shape(e, outline, m)
}

// setText is the outline and the width of a line in a font of size 1.
func setText(text string, boldly bool) (outline path, width float64, err error) {
	parsed := regular
	if boldly {
		parsed = bold
	}
	f, err := parsed()
	if err != nil {
		return nil, 0, err
	}
	var buffer sfnt.Buffer
	size := fixed.I(em)
	var last sfnt.GlyphIndex
	for i, r := range text {
		glyph, err := f.GlyphIndex(&buffer, r)
		if err != nil {
			return nil, 0, err
		}
		if glyph == 0 {
			return nil, 0, fmt.Errorf("the font has no sign %q: write it in another way", r)
		}
		if i > 0 {
			if kern, err := f.Kern(&buffer, last, glyph, size, font.HintingNone); err == nil {
				width += float64(kern) / 64 / em
			}
		}
		segments, err := f.LoadGlyph(&buffer, glyph, size, nil)
		if err != nil {
			return nil, 0, err
		}
		outline.glyph(segments, width)
		advance, err := f.GlyphAdvance(&buffer, glyph, size, font.HintingNone)
		if err != nil {
			return nil, 0, err
		}
		width += float64(advance) / 64 / em
		last = glyph
	}
	return outline, width, nil
}

// glyph adds the outline of one character to the path. The outline is moved to the right by the given distance.
func (p *path) glyph(segments sfnt.Segments, right float64) {
	var at point
	for _, s := range segments {
		var to [3]point
		for i, a := range s.Args {
			to[i] = point{right + float64(a.X)/64/em, float64(a.Y) / 64 / em}
		}
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			p.add('M', to[0])
			at = to[0]
		case sfnt.SegmentOpLineTo:
			p.add('L', to[0])
			at = to[0]
		case sfnt.SegmentOpQuadTo:
			p.quadratic(at, to[0], to[1])
			at = to[1]
		case sfnt.SegmentOpCubeTo:
			p.add('C', to[0], to[1], to[2])
			at = to[2]
		}
	}
}

// Width is that of a line of text in font sizes.
func Width(text string, boldly bool) (float64, error) {
	_, width, err := setText(text, boldly)
	return width, err
}
