// Package report draws figures and tables that look the same in a notebook, on a page and in print.
//
// A builder returns a [Figure]:
//
//   - [Curves] and [Plots]: curves over linear and logarithmic axes, with spreads, published values and fits
//     ([FitLine]);
//   - [Board] and [Boards]: maps of values on a grid of cells, with marked cells;
//   - [Slider]: maps with a slider, for example through the layers of a network;
//   - [Parallel]: points of many dimensions as lines across parallel axes.
//
// A figure comes as
//
//   - [Figure.SVG], a static picture, drawn by ECharts in a JavaScript engine that is written in Go, and [Figure.PNG],
//     the same picture in pixels (package raster). Neither needs a browser or a network; both are always the same
//     bytes;
//   - [Figure.HTML], the static picture with a script that replaces it by an interactive chart where ECharts is
//     available;
//   - [Figure.Option], the chart's description as JSON, for other tools.
//
// A [Table] of numbers with their spreads may also have missing and published numbers. It comes as [Table.HTML],
// [Table.Markdown], [Table.LaTeX] and [Table.CSV], and also as [Table.SVG] and [Table.PNG]. It marks the best number of
// each column. [Page] makes a web page of figures and tables.
//
// Mistakes in the arguments of a builder or in a table (columns of unequal length, a logarithm of zero, a row that is
// too short) are returned as errors by these methods, so that building and showing can be one expression.
//
// Curves differ in colours, dashes and symbols, so that they can be told apart in grey print; values on boards run from
// light to dark. Package nb shows figures, tables and live progress in Go notebooks.
package report
