// Package metrics computes what experiments measure: accuracy and ROC-AUC of predictions, homophily of graphs, the
// smoothness of representations (GSL), and the spread of results over splits.
//
// All sums are computed in float64. The functions do not panic. If lengths are wrong or the result is undefined, they
// return an error, or NaN where their documentation says so.
package metrics
