// Package report draws figures: one look everywhere, in a notebook, on a page and in print.
//
// A builder ([Curves], [Board]) returns a [Figure], which can be had as
//
//   - [Figure.SVG], a static picture drawn by ECharts itself inside a Go JavaScript engine: no browser, no network,
//     the same bytes every time;
//   - [Figure.HTML], that picture with a script that replaces it by an interactive chart where ECharts can be had;
//   - [Figure.Option], the chart's description as JSON, for other tools.
//
// Mistakes in what a builder is given (columns of unequal length, a logarithm of zero) come back as the error of
// these methods, so that building and showing a figure stays one expression.
//
// Colours and dashes keep curves apart in grey print; values on boards run from light to dark. Package nb shows
// figures and live progress in Go notebooks.
package report
