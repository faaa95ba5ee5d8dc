// Package metrics has measures of predictions, homophily of graphs, smoothness of representations, and the spread of
// results over splits. Sums are in float64. Wrong lengths and undefined results are errors, or NaN where this is
// documented.
package metrics
