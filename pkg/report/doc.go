// Package report draws figures and sets tables: one look everywhere, in a notebook, on a page and in print.
//
// A builder returns a [Figure]:
//
//   - [Curves] and [Plots]: curves over linear and logarithmic axes, with spreads, published
//     values and fits ([FitLine]);
//   - [Board] and [Boards]: maps of values on a grid of cells, with marked cells;
//   - [Parallel]: points of many dimensions as lines across parallel axes;
//   - [Slider]: such maps with a slider, for example through the layers of a network.
//
// A figure can be had as
//
//   - [Figure.SVG], a static picture drawn by ECharts itself inside a Go JavaScript engine, and [Figure.PNG], the same
//     in pixels (package raster): no browser, no network, the same bytes every time;
//   - [Figure.HTML], that picture with a script that replaces it by an interactive chart where ECharts can be had;
//   - [Figure.Option], the chart's description as JSON, for other tools.
//
// A [Table] of numbers with their spreads, of missing and of published numbers can be had as [Table.HTML],
// [Table.Markdown], [Table.LaTeX] and [Table.CSV]; it marks the best of each column itself. [Page] puts figures and
// tables on a page of their own.
//
// Mistakes in what a builder or a table is given (columns of unequal length, a logarithm of zero, a row that is too
// short) come back as the error of these methods, so that building and showing stays one expression.
//
// Colours, dashes and symbols keep curves apart in grey print; values on boards run from light to dark. Package nb
// shows figures, tables and live progress in Go notebooks.
package report
