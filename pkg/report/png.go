package report

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report/raster"
)

// PNG returns the static picture of the figure as a PNG image. With a scale of 1, the image has the width and the
// height that the figure has on a web page, in pixels. Any other scale multiplies both. A scale of 3 is enough for
// print.
func (f *Figure) PNG(scale float64) ([]byte, error) {
	svg, err := f.SVG()
	if err != nil {
		return nil, err
	}
	picture, err := raster.PNG(svg, scale)
	if err != nil {
		return nil, fmt.Errorf("report: figure %q: %w", f.ID, err)
	}
	return picture, nil
}
