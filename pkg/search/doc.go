// Package search looks for those settings of a model that give the best validation metric on a dataset, by asynchronous
// successive halving (ASHA; Li et al., A System for Massively Parallel Hyperparameter Tuning, MLSys 2020). Each trial
// trains with one choice of settings ([Sampler]) from the ranges of a [Space], first for a few epochs; the best share of
// them continue to the next of the rungs, which are numbers of epochs, and so on ([Schedule]). The score of a trial at a
// rung is its best validation metric so far, averaged over splits; a trial that fails or diverges is worse than all.
//
// A job trains a trial up to a rung, and a step is its part on one split. Each step leaves a run record, and only these
// records decide what comes next. So a search can be interrupted, and processes can share it ([runs.Claims]).
//
// Trials train on a copy of the graph without the labels of test nodes ([Blindfold]). Only the chosen settings are tested,
// by ordinary trainings after the search ([Evaluate]).
package search
