// Package runpage makes a web page of the record of a training, to be sent to a colleague: one file that loads nothing
// from anywhere. It shows the result, curves over the epochs, the confusion matrix or the ROC curve of the best epoch,
// the reverse process's residuals and iterations, the smoothness of the states by layer, all settings, what the numbers
// depend on, and the command that repeats the training. What a record does not hold is said in its place.
package runpage
