package raster_test

import (
	"bytes"
	"fmt"
	"image/png"
	"log"

	"github.com/revgnn/revgnn/pkg/report/raster"
)

// This example turns an SVG picture into a PNG image with two pixels for each unit of the picture.
func ExamplePNG() {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" viewBox="0 0 40 30">` +
		`<rect x="0" y="0" width="40" height="30" fill="#ffffff"></rect>` +
		`<rect x="10" y="10" width="20" height="10" fill="#ff0000"></rect></svg>`
	image, err := raster.PNG(svg, 2)
	if err != nil {
		log.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(image))
	if err != nil {
		log.Fatal(err)
	}
	red, green, blue, _ := picture.At(40, 30).RGBA()
	fmt.Println(picture.Bounds().Max, red>>8, green>>8, blue>>8)
	// Output: (80,60) 255 0 0
}
