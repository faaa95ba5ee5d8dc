// Package raster turns the SVG pictures that ECharts draws into PNG images, in pure Go: no browser, no network, and
// the same pixels on every machine.
//
// It knows the part of SVG 1.1 that ECharts writes: groups, rectangles, polygons, paths, images of PNG data, single
// lines of text, linear gradients and clip paths (as their bounding boxes). Anything else is an error and never a
// picture with something missing. Text is set in Liberation Sans, which has the widths of Helvetica and Arial, so that
// it takes the room that it has in a browser.
package raster
