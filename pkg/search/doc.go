// Package search looks for settings of a model on a dataset with the best validation metric, by asynchronous
// successive halving (ASHA; Li et al., A System for Massively Parallel Hyperparameter Tuning, MLSys 2020) of
// quasi-random samples from a [Space].
//
// Every trial trains for a few epochs; the best third of the trials continue, from where they stopped, to three times
// as many, and so on ([Schedule]). These numbers of epochs are called rungs. The result of a trial at a rung, on a
// split, is a run record, and the records alone decide what a search does next. An interrupted search therefore
// resumes as if nothing had happened, and several processes may share one ([Search.Run]).
//
// A trial cannot see results on test nodes: it is given a graph without test nodes and without their labels
// ([Blindfold]). Only the chosen settings are evaluated on test nodes, by ordinary trainings after the search
// ([Evaluate]).
package search
