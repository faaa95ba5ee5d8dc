// Package report draws figures and tables that look the same in a notebook, on a page and in print.
//
// The builders [Curves], [Plots], [Board], [Boards], [Slider] and [Parallel] return a [Figure]: [Figure.SVG] and
// [Figure.PNG] are its static picture, drawn by ECharts in a JavaScript engine in Go, without a browser or network, the
// same bytes each time; [Figure.HTML] is that picture and a script that makes it interactive where it finds ECharts.
//
// A [Table] has numbers with their spreads, published numbers, or the reason why one is missing, and writes itself as
// HTML, Markdown, LaTeX, CSV, SVG and PNG. [Page] is a web page of figures and tables.
//
// Mistakes in a builder's arguments or in a table are errors of these methods, so that building and showing can be one
// expression. Curves differ in dashes and symbols, too, and colours of maps go from light to dark, for grey print.
package report
