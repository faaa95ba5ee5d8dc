// Package search looks for those settings of a model that give the best validation metric on a dataset. It draws
// settings from a [Space] by a quasi-random sequence, and compares them by asynchronous successive halving (ASHA; Li et
// al., A System for Massively Parallel Hyperparameter Tuning, MLSys 2020).
//
// A dimension is a setting that is searched, with its range ([Dimension]). A sample is one choice of settings, drawn
// from these ranges. A trial is a training with the settings of one sample. Every trial first trains for a few epochs.
// The best third of the trials continue to three times as many epochs, from where they stopped; the best third of these
// continue again, and so on ([Schedule]). These numbers of epochs are called rungs. The score of a trial at a rung is
// its best validation metric up to there, averaged over the splits of the search. A trial goes wrong if it fails or
// diverges; it then counts as worse than all others.
//
// A job is a trial that is to be trained up to a rung, on all splits. A step is the part of a job on one split. The
// result of each step is kept as a run record, and only the records decide what a search does next. A search that was
// interrupted therefore goes on as if nothing had happened, and several processes may work on one search
// ([Search.Run]).
//
// A trial cannot see results on test nodes: the splits of its graph have no test nodes, and the labels of these nodes
// are replaced ([Blindfold]). Only the chosen settings are evaluated on test nodes, by ordinary trainings after the
// search ([Evaluate]).
package search
