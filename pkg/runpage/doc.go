// Package runpage makes a web page that shows the record of a training. The page is one file, which loads no other
// files and can be sent to a colleague. It shows the result, curves over epochs, the confusion matrix or the ROC curve
// of the best epoch, residuals and iterations of the reverse process, and the smoothness of the states by layer. It
// also lists all settings, the machine and the versions, and the command that repeats the training. If a record lacks
// some of this, the page says so.
//
// [SweepPage] makes one page from the records of several trainings with the same settings, for example on different
// splits.
//
// Terms: a run is a training here, and its record has the settings and the outcome (the results). Details are the part
// of the outcome that pages show as figures, such as curves; older records have no details. The state after a layer is
// the matrix of node features that this layer computes. GSL measures how smooth a state is: it is the mean cosine
// similarity of the nodes' features over all pairs of nodes.
package runpage
