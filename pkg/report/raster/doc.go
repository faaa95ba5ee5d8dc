// Package raster turns the SVG of ECharts and of tables into PNG, in pure Go: no browser, no network, the same pixels
// everywhere. It knows the part of SVG 1.1 that ECharts writes: groups, rectangles, polygons, paths, embedded PNG
// images, single lines of text, linear gradients and clip paths, of which it takes the bounding box. Any other element
// is an error, so that nothing is missing without notice. The font, Liberation Sans, is as wide as Helvetica and Arial.
package raster
