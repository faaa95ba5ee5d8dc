// Package report draws figures and tables that look the same in a notebook, on a page and in print.
//
// A function such as [Curves], called a builder here, returns a [Figure]. The builders are:
//
//   - [Curves] and [Plots]: curves over linear and logarithmic axes, with error bars, published values and fits
//     ([FitLine]);
//   - [Board] and [Boards]: maps of values on a grid of cells, in which some cells may have marks;
//   - [Slider]: maps with a slider that selects what they show, for example a layer of a network;
//   - [Parallel]: points of many dimensions as lines across parallel axes.
//
// A figure has these methods:
//
//   - [Figure.SVG] returns a static picture, and [Figure.PNG] the same picture in pixels. The JavaScript library
//     ECharts draws the picture; this library runs in a JavaScript engine that is written in Go. (Package raster makes
//     the pixels.) No browser and no network are needed, and the same figure always gives the same bytes;
//   - [Figure.HTML] returns the static picture with a script. If the script finds ECharts, it replaces the picture by
//     an interactive chart;
//   - [Figure.Option] returns the description of the chart that ECharts reads, as JSON for other tools.
//
// A [Table] has cells with numbers, standard deviations, published numbers, or the reason why a number is missing.
// Lines in small print may stand below the number in a cell. The best number of each column is marked. The methods
// [Table.HTML], [Table.Markdown], [Table.LaTeX], [Table.CSV], [Table.SVG] and [Table.PNG] return the table in these
// formats. [Page] makes a web page of figures and tables.
//
// If there are mistakes in the arguments of a builder or in a table (columns of unequal length, a logarithm of zero, a
// row that is too short), the methods above return an error. The builders themselves return no errors, so that building
// and showing a figure can be one expression.
//
// Curves differ in colours, dashes and symbols, so that they can be told apart in grey print. The colours of maps go
// from light to dark.
//
// Package nb shows figures, tables and live progress in Go notebooks.
//
// Terms used in this package:
//   - An option is the description of a chart that ECharts reads: a JSON object with titles, axes, data and styles. The
//     Go library go-echarts writes most of it.
//   - A board is a grid of square cells. A map shows one value of each cell by the colour of the cell.
//   - A panel is one of the maps, or one of the pairs of axes with curves, in a figure. A strip is a row of panels.
//   - A series is a curve: a list of points with a name. (ECharts uses this word for all data that are drawn in one
//     way: each map is a series of ECharts, and so are the marks of each map.)
//   - The spread of a point is the length of its error bar in each direction; in a table, it is the number after ±.
package report
