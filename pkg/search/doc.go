// Package search looks for the settings of a model on a dataset that are best by the validation metric: asynchronous
// successive halving (ASHA; Li et al., A System for Massively Parallel Hyperparameter Tuning, MLSys 2020) over
// quasi-random samples of a [Space].
//
// Every trial trains for a few epochs; the best third goes on, from where it stopped, to three times as many, and so
// on ([Schedule]). What a trial comes to at a rung, on a split, is a run record, and what a search does next follows
// from the records alone: a search that was interrupted goes on as if nothing had happened, and several processes may
// share one ([Search.Run]).
//
// A trial can't see how well it does on the test nodes of its split: all that it is given is a graph without test
// nodes and without their labels ([Blindfold]). Only what a search has chosen is evaluated, by ordinary trainings
// ([Evaluate]).
package search
