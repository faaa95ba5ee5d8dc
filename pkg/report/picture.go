package report

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strconv"
)

// palette has white, for missing values and lines between cells, and the 255 colours of the scale.
var palette = func() color.Palette {
	p := color.Palette{color.White}
	const steps = 255
	for i := range steps {
		at := float64(i) / (steps - 1) * float64(len(shades)-1)
		k := min(int(at), len(shades)-2)
		p = append(p, mix(rgb(shades[k]), rgb(shades[k+1]), at-float64(k)))
	}
	return p
}()

// picture draws the cells of a map as a PNG image in a data URL.
func (b *board) picture(p Panel) (string, error) {
	// If there are no lines between the cells, each cell is one pixel of the image, and the browser enlarges the image.
	// Otherwise the image has the size of the map on the page: each cell has side x side pixels. Of these, drawn x
	// drawn pixels have the colour of the cell. The others stay white: they are the lines.
	side, drawn := 1, 1
	if b.ruled() {
		side, drawn = b.cell, b.cell-1
	}
	m := image.NewPaletted(image.Rect(0, 0, b.cols*side, b.rows*side), palette)
	for i, v := range p.Values {
		if significant(v, 3) == nil {
			continue
		}
		share := (v - b.low) / (b.high - b.low)
		index := uint8(1 + share*float64(len(palette)-2) + 0.5)
		for dy := range drawn {
			for dx := range drawn {
				m.SetColorIndex(i%b.cols*side+dx, i/b.cols*side+dy, index)
			}
		}
	}
	var file bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&file, m); err != nil {
		return "", err
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(file.Bytes()), nil
}

// ruled tells whether there are lines between cells.
func (b *board) ruled() bool { return b.cell >= 8 }

// rgb parses a colour "#rrggbb".
func rgb(text string) color.RGBA {
	v, err := strconv.ParseUint(text[1:], 16, 32)
	if err != nil {
		panic(err) // a colour in the source code of this package is wrong
	}
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

// mix interpolates between two colours.
func mix(from, to color.RGBA, share float64) color.RGBA {
	between := func(a, b uint8) uint8 { return uint8(float64(a) + share*(float64(b)-float64(a)) + 0.5) }
	return color.RGBA{R: between(from.R, to.R), G: between(from.G, to.G), B: between(from.B, to.B), A: 255}
}
