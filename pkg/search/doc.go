// Package search looks for those settings of a model that give the best validation metric on a dataset. A [Space] has
// the ranges of the settings. The search draws settings from these ranges by a quasi-random sequence, whose points are
// spread more evenly than random points ([Sampler]). It trains the model with many choices of settings for a few
// epochs, and continues with the best choices only. This method is called asynchronous successive halving (ASHA; Li et
// al., A System for Massively Parallel Hyperparameter Tuning, MLSys 2020).
//
// A dimension is a setting that is searched, with its range ([Dimension]). A sample is one choice of settings, drawn
// from the ranges. A trial is the training of the model with the settings of one sample, on each split of the search.
// Every trial first trains for a few epochs. The best third of the trials then continue until they have trained three
// times as many epochs. The best third of these continue again, and so on ([Schedule]). The numbers of epochs at which
// trials are compared are called rungs. The score of a trial at a rung is its best validation metric so far, averaged
// over the splits. A trial goes wrong if it fails or diverges; it then counts as worse than all others.
//
// A job is the training of a trial up to a rung, on all splits. A step is the part of a job on one split. The result of
// each step is kept as a run record, and only these records decide what the search does next. So an interrupted search
// can continue from its records. Several processes may work on one search ([Search.Run]): each process claims a step
// before it makes the step ([runs.Claims]), so that no other process makes the same step.
//
// A trial cannot see the labels of test nodes: it trains on a copy of the graph in which only training and validation
// nodes keep their labels ([Blindfold]). Only the chosen settings are evaluated on test nodes, by ordinary trainings
// after the search ([Evaluate]).
package search
