// Package raster turns SVG pictures into PNG images. It is for the pictures that ECharts draws (a JavaScript library
// for charts), and for pictures of tables. The package is written in pure Go: it needs neither a browser nor a network,
// and gives the same pixels on every machine.
//
// The package supports the part of SVG 1.1 that ECharts writes: groups, rectangles, polygons, paths, embedded PNG
// images, single lines of text, linear gradients and clip paths. For any other element, the package returns an error,
// so that no part of a picture is missing without notice. The font is Liberation Sans. Its characters are as wide as
// those of Helvetica and Arial, so that text takes as much space as in a browser with one of these fonts.
//
// Terms used in this package, as in SVG:
//   - An element is a part of the picture, such as a rectangle or a line of text. A group is an element that contains
//     other elements. Attributes, such as "fill", say how an element looks.
//   - A path is a list of straight and curved lines. The outline of a shape is a path. To fill an outline is to paint
//     the area inside it. To stroke an outline is to draw a line along it.
//   - A linear gradient is a colour that changes along a line.
//   - The position of an element is given in coordinates of its own. A transform converts coordinates to other
//     coordinates: it moves, scales or turns an element or a group. In many functions, the argument m is the transform
//     from the coordinates of an element to pixels.
//   - A clip is a rectangle outside which nothing is painted. SVG describes a clip by an element with a path, the clip
//     path. This package uses the bounding box of this path (the smallest rectangle around it) as the clip.
package raster
