// Package report draws figures and tables with one look: in a notebook, on a page and in print.
//
// A builder returns a [Figure]:
//
//   - [Curves] and [Plots]: curves over linear and logarithmic axes, with spreads, published
//     values and fits ([FitLine]);
//   - [Board] and [Boards]: maps of values on a grid of cells, with marked cells;
//   - [Parallel]: points of many dimensions as lines across parallel axes;
//   - [Slider]: such maps with a slider, for example through the layers of a network.
//
// A figure comes as
//
//   - [Figure.SVG], a static picture, drawn by ECharts in a Go JavaScript engine, and [Figure.PNG], the same in pixels
//     (package raster): without a browser or a network, and always with the same bytes;
//   - [Figure.HTML], that picture with a script that replaces it by an interactive chart where ECharts is available;
//   - [Figure.Option], the chart's description as JSON, for other tools.
//
// A [Table] of numbers with their spreads, including missing and published numbers, comes as [Table.HTML],
// [Table.Markdown], [Table.LaTeX] and [Table.CSV]; it marks the best of each column by itself. [Page] makes a web page
// of figures and tables.
//
// Mistakes in the arguments of a builder or in a table (columns of unequal length, a logarithm of zero, a row that is
// too short) are returned as errors by these methods, so that building and showing can be one expression.
//
// Curves differ in colours, dashes and symbols, so that they can be told apart in grey print; values on boards run
// from light to dark. Package nb shows figures, tables and live progress in Go notebooks.
package report
