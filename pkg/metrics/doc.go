// Package metrics holds what experiments measure: accuracy and ROC-AUC of predictions, homophily of graphs, the
// smoothness of representations (GSL), and the spread of results over splits.
//
// All sums are in float64. Nothing here panics: wrong lengths and undefined values are errors, or NaN where the
// documentation says so.
package metrics
