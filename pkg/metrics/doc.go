// Package metrics holds what experiments measure: accuracy and ROC-AUC of predictions, homophily of graphs, the
// smoothness of representations (GSL), and the spread of results over splits.
//
// All sums are in float64. Nothing here panics: for wrong lengths and undefined values, functions return an error, or
// NaN where their documentation says so.
package metrics
