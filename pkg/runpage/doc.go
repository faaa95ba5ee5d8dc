// Package runpage makes a web page from the run record of a training. The page is one file, which loads no other files
// and can be sent to a colleague. It shows the result of the training, curves over epochs, the confusion matrix or the
// ROC curve of the best epoch, residuals and iterations of the reverse layers, and the GSL after each layer. It also
// lists the settings, the machine and the versions of the software, and shows the command that repeats the training. If
// a record lacks the data for a part of the page, the page says so.
//
// [SweepPage] makes one page from the records of several trainings with the same settings, for example on different
// splits.
//
// These words have a fixed meaning here:
//
//   - A record has the settings of a training and its outcome, which are the results.
//   - Details are the part of the outcome that pages show as figures, such as curves. Older records have no details.
//   - The best epoch is the first epoch with the best validation metric.
//   - The state after a layer is the matrix of node features that this layer computes.
//   - GSL measures how smooth a state is: it is the mean cosine similarity of the nodes' features over all pairs of
//     nodes.
package runpage
