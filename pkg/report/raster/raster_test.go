package raster

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
)

// drawn makes a picture of 40 x 40 units from the given elements, and draws it as an image of 80 x 80 pixels.
func drawn(t *testing.T, elements string) image.Image {
	t.Helper()
	file, err := PNG(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">`+elements+`</svg>`, 2)
	if err != nil {
		t.Fatalf("%s: %v", elements, err)
	}
	m, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if m.Bounds() != image.Rect(0, 0, 80, 80) {
		t.Fatalf("the picture is %v", m.Bounds())
	}
	return m
}

func at(m image.Image, x, y int) string {
	c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
	return fmt.Sprintf("%02x%02x%02x", c.R, c.G, c.B)
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		elements     string
		inked, blank [2]int // a pixel that is painted, and one that is not
		colour       string
		area, within float64 // the painted area in square units, and the allowed error
	}{
		{`<rect x="10" y="10" width="20" height="10" fill="#0072b2"/>`, [2]int{21, 21}, [2]int{19, 21},
			"0072b2", 200, 0.1},
		{`<polygon points="0 0 40 0 0 40" fill="rgb(0,0,0)"/>`, [2]int{2, 2}, [2]int{70, 70}, "000000", 800, 15},
		{`<path d="M20 10A10 10 0 1 1 19.9 10Z" fill="#f00"/>`, [2]int{40, 40}, [2]int{22, 22}, "ff0000",
			100 * math.Pi, 8},
		{`<path d="M1 0A1 1 0 1 1 1 -0.0001" transform="matrix(10,0,0,10,20,20)" fill="#f00"/>`, [2]int{40, 40},
			[2]int{22, 22}, "ff0000", 100 * math.Pi, 8},
		{`<path d="m10 10l20 0v10h-20z" fill="#123456"/>`, [2]int{30, 30}, [2]int{19, 30}, "123456", 200, 0.1},
		{`<path d="M0 20L40 20" stroke="#000" stroke-width="4" fill="none"/>`, [2]int{40, 40}, [2]int{40, 46},
			"000000", 160, 0.1},
		{`<path d="M0 20L40 20" stroke="#000" stroke-width="4" stroke-dasharray="5,5" fill="none"/>`, [2]int{5, 40},
			[2]int{15, 40}, "000000", 80, 0.1},
		{`<path d="M0 2L4 2" transform="matrix(10,0,0,10,0,0)" stroke="#000" stroke-width="2" ` +
			`vector-effect="non-scaling-stroke"/>`, [2]int{40, 40}, [2]int{40, 44}, "000000", 80, 0.1},
		{`<g clip-path="url(#c)"><rect width="40" height="40"/></g><defs><clipPath id="c"><path d="M10 10l10 0l0 ` +
			`10l-10 0Z"/></clipPath></defs>`, [2]int{21, 21}, [2]int{45, 45}, "000000", 100, 0.1},
		{`<rect width="40" height="20" fill="url(#g)"/><defs><linearGradient id="g" ` +
			`gradientUnits="objectBoundingBox" x1="0" y1="0" x2="1" y2="0">` +
			`<stop offset="0%" stop-color="#00f"/><stop offset="50%" stop-color="#f00"/></linearGradient></defs>`,
			[2]int{60, 5}, [2]int{60, 45}, "ff0000", 800, 0.1},
		{`<rect width="40" height="40" fill="#000" fill-opacity="0.5"/>`, [2]int{5, 5}, [2]int{-1, -1},
			"7f7f7f", 1600, 0.1},
		{`<text x="20" y="20" style="font-size:20px;font-weight:bold" text-anchor="middle" ` +
			`dominant-baseline="central">I</text>`, [2]int{40, 40}, [2]int{30, 40}, "000000", 40, 15},
	} {
		m := drawn(t, c.elements)
		if got := at(m, c.inked[0], c.inked[1]); got != c.colour {
			t.Errorf("%s: the pixel at %v is %s, want %s", c.elements, c.inked, got, c.colour)
		}
		if c.blank[0] >= 0 {
			if got := at(m, c.blank[0], c.blank[1]); got != "ffffff" {
				t.Errorf("%s: the pixel at %v is %s, want white", c.elements, c.blank, got)
			}
		}
		inked := 0
		for y := range 80 {
			for x := range 80 {
				if r, g, b, _ := m.At(x, y).RGBA(); r+g+b < 3*0xc000 {
					inked++
				}
			}
		}
		if area := float64(inked) / 4; math.Abs(area-c.area) > c.within {
			t.Errorf("%s: %g square units are inked, want %g", c.elements, area, c.area)
		}
	}
}

// TestPDF reads what a page of 40 x 20 pixels, 30 x 15 points, paints: a half transparent red square with its left
// upper corner at (3, 6) points, cut by the clip path, and a picture.
func TestPDF(t *testing.T) {
	svg := `<svg width="40" height="20"><defs><clipPath id="c"><rect width="6" height="20"/></clipPath></defs>
		<g clip-path="url(#c)"><rect x="4" y="8" width="8" height="8" fill="#f00" opacity="0.5"/></g>
		<image x="20" width="16" height="16" href="data:image/png;base64,` + dot(t) + `"/></svg>`
	page, err := PDF(svg)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := PDF(svg); !bytes.Equal(page, again) {
		t.Error("the same picture gives two files")
	}
	_, stream, _ := bytes.Cut(page, []byte("stream\n"))
	z, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	painted, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.00 15.00 4.50 -15.00 re W n", "1.000 0.000 0.000 rg", "3.00 9.00 m", "9.00 3.00 l",
		"q 12.00000 0 0 12.00000 15.00000 3.00000 cm"} {
		if !strings.Contains(string(painted), want) {
			t.Errorf("the page does not paint %q: %s", want, painted)
		}
	}
	for _, want := range []string{"%PDF-", "/MediaBox [0 0 30.00 15.00]", "/ca 0.502", "%%EOF"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the file lacks %q", want)
		}
	}
}

// dot is a PNG of one pixel in base 64.
func dot(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestErrors(t *testing.T) {
	for want, elements := range map[string]string{
		"not among":          `<circle r="5"/>`,
		"unknown command":    `<path d="M0 0B1 1"/>`,
		"lacks numbers":      `<path d="M0 0L1"/>`,
		"transform skewX(1)": `<rect transform="skewX(1)"/>`,
		`colour "red"`:       `<rect fill="red"/>`,
		"nothing at url(#a)": `<rect fill="url(#a)"/>`,
		"no sign":            `<text>網</text>`,
		"single lines":       `<text><tspan>a</tspan></text>`,
		"PNG data":           `<image href="file.png"/>`,
		"not XML":            `<g>`,
	} {
		svg := `<svg width="40" height="40">` + elements + `</svg>`
		_, png := PNG(svg, 1)
		_, pdf := PDF(svg)
		for _, err := range []error{png, pdf} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want an error that says %q", elements, err, want)
			}
		}
	}
	for want, call := range map[string]struct {
		svg   string
		scale float64
	}{
		"no SVG":         {"<html></html>", 1},
		"choose a scale": {`<svg width="40" height="40"></svg>`, 0},
		"2^28":           {`<svg width="40" height="40"></svg>`, 1e6},
	} {
		if _, err := PNG(call.svg, call.scale); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error that says %q", err, want)
		}
	}
}

func TestWidth(t *testing.T) {
	// The expected widths are those of Helvetica and Arial: a digit is 0.556 em wide, and an "i" 0.222 em (1 em is the
	// font size).
	for text, want := range map[string]float64{"": 0, "0123": 4 * 0.556, "i": 0.222} {
		if got, err := Width(text, false); err != nil || math.Abs(got-want) > 0.002 {
			t.Errorf("%q is %g em wide (%v), want %g", text, got, err, want)
		}
	}
}
