// Package experiment plans and makes runs: trainings, inversions, benchmarks and measurements of datasets. Each run is
// recorded as soon as it ends, so that a command that was interrupted can be given again and goes on where it stopped.
//
// A [Task] says what one run does: its kind, dataset, split and settings. Tasks that do the same have the same key
// ([Task.Key]), by which the record of a run is found. Records are kept in a store, which is an SQLite file
// ([results.Store]).
//
// A [Work] is a function that asks a [View] for the results of runs ([Ask], [View.Search]) and makes something of them,
// such as a table. The plan of the work is the list of runs that this function asks for, so that plan and result cannot
// disagree; a [Step] is an entry of this list. A [Runner] makes those runs that are not recorded yet, one after the
// other.
//
// A [Profile], read from a file, says on which datasets and splits models are trained, and which configurations are
// tried. A candidate is one of these configurations; the candidate with the best validation metric is chosen. All runs
// that one such choice needs form a group. A [Shard] is the part of the work that one of several machines does; a group
// belongs to a single shard.
//
// The program of a task is the compiled computation that its run executes, such as a training step. Tasks that differ
// only in settings such as the learning rate have the same program. The cost of a run is estimated from recorded runs
// of the same program ([Costs]), or a few training steps are timed ([Runner.Time]).
//
// The states of a trained model are the features of all nodes after some of its layers. A training records numbers
// about them if its task asks for it ([Follow]).
package experiment
