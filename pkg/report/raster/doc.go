// Package raster turns the SVG pictures that ECharts draws into PNG images, in pure Go: without a browser or a network,
// and with the same pixels on every machine.
//
// The package supports the part of SVG 1.1 that ECharts writes: groups, rectangles, polygons, paths, embedded PNG
// images, single lines of text, linear gradients and clip paths. (Of a clip path it uses only the bounding box.) Any
// other element is an error, so that nothing is missing from a picture without notice. The font is Liberation Sans. Its
// characters are as wide as those of Helvetica and Arial, so that text takes as much space as in a browser.
//
// Terms used in this package, as in SVG:
//   - An element is a part of the picture, such as a rectangle or a line of text. A group is an element that contains
//     other elements and moves them together.
//   - A path is a list of straight and curved lines; the outline of a shape is a path. To fill an outline is to paint
//     the area inside it. To stroke an outline is to draw a line along it.
//   - A transform converts the coordinates of an element, in units of the picture, to other coordinates. In many
//     functions, the argument m is the transform to pixels.
//   - A clip is a rectangle outside which nothing is painted.
package raster
