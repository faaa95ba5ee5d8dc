package report

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report/raster"
)

// PNG is the static picture in pixels: scale 1 has the size on a page; 3 is enough for print.
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
