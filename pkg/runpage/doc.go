// Package runpage makes a web page of the record of a training, for sending to a colleague. The page is one file, and
// loads nothing. It shows the result, curves over epochs, the confusion matrix or the ROC curve of the best epoch,
// residuals and iterations of the reverse process, the smoothness of the states by layer, all settings, what the
// numbers depend on, and the command that repeats the training. Where a record lacks something, the page says so.
//
// [SweepPage] makes one page of all trainings with the same settings, split by split.
package runpage
