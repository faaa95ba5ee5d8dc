// Package search looks for the settings of a model on a dataset with the best validation metric. It draws settings from
// a [Space] by a quasi-random sequence, and compares them by asynchronous successive halving (ASHA; Li et al., A System
// for Massively Parallel Hyperparameter Tuning, MLSys 2020).
//
// A trial is a training with one choice of settings. Every trial trains for a few epochs. The best third of the trials
// continue to three times as many epochs, from where they stopped; the best third of these continue again, and so on
// ([Schedule]). These numbers of epochs are called rungs. The result of a trial at a rung, on a split, is kept as a run
// record, and only the records decide what a search does next. A search that was interrupted therefore goes on as if
// nothing had happened, and several processes may work on one search ([Search.Run]).
//
// A trial cannot see results on test nodes: its graph has no test nodes and none of their labels ([Blindfold]). Only
// the chosen settings are evaluated on test nodes, by ordinary trainings after the search ([Evaluate]).
package search
