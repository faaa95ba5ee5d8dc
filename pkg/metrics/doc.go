// Package metrics computes what experiments measure: accuracy and ROC-AUC of predictions, homophily of graphs, the
// smoothness of representations (GSL), and the spread of results over splits.
//
// All sums are computed in float64. Nothing here panics: for wrong lengths and undefined values, functions return an
// error, or NaN if their documentation says so.
package metrics
