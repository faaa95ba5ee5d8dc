// Package raster turns the SVG pictures that ECharts draws into PNG images, in pure Go: no browser, no network, and
// the same pixels on every machine.
//
// It supports the part of SVG 1.1 that ECharts writes: groups, rectangles, polygons, paths, embedded PNG images,
// single lines of text, linear gradients and clip paths (as their bounding boxes). Anything else is an error, so that
// no picture lacks something silently. Text is set in Liberation Sans, which has the widths of Helvetica and Arial,
// and so takes as much room as in a browser.
package raster
