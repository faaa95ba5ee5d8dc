// Package raster turns the SVG pictures that ECharts draws into PNG images, in pure Go: without a browser or a network,
// and with the same pixels on every machine.
//
// It supports the part of SVG 1.1 that ECharts writes: groups, rectangles, polygons, paths, embedded PNG images, single
// lines of text, linear gradients and clip paths (as their bounding boxes). Anything else is an error, so that nothing
// is missing from a picture without notice. Text is set in Liberation Sans, which has the widths of Helvetica and
// Arial, so that it takes as much room as in a browser.
package raster
