// Package metrics has accuracy and ROC-AUC, homophily of graphs, smoothness of representations, and the spread of
// results over splits. Sums are in float64. Wrong lengths and undefined results are errors, or NaN where this is
// documented.
package metrics
