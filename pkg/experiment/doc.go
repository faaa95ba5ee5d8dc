// Package experiment plans and makes runs. A run is a training, an inversion (layers with random weights, run forwards
// and then backwards), a benchmark, or a measurement of a dataset. Each run is recorded as soon as it ends. An
// interrupted command can therefore be given again, and goes on where it stopped.
//
// A [Task] says what one run does: its kind, dataset, split and settings. The key of a task is a hash of its content
// ([Task.Key]). The record of a run is found by this key. Records are kept in a store, which is an SQLite file
// ([results.Store]). Several processes may use the same store. Each process claims a run before it makes the run
// ([Claims]), so that no other process makes the same run.
//
// A [Work] is a function. It asks a [View] for the results of runs ([Ask], [View.Search]), and makes something of them,
// such as a table. The plan of the work is the list of runs that the function asks for ([Plan]). Each entry of the list
// is a [Step]. A [Runner] makes those runs that are not recorded yet, one after the other.
//
// A [Profile] is read from a file. It says on which datasets and splits models are trained, and which settings are
// tried. A configuration is a model with its settings. The configurations that are tried for a model on a dataset are
// called candidates. The candidate with the best validation metric is chosen. The runs that compare the candidates,
// together with the runs of the chosen candidate, form a group. The work may be divided among several machines. The
// part of one machine is a [Shard]. All runs of a group belong to the same shard.
//
// The program of a task is the compiled computation that a run of the task executes, such as a training step. Tasks
// that differ only in settings such as the learning rate have the same program. The cost of a run is its time and its
// memory. The cost is estimated from recorded runs of the same program ([Costs]). If there are no such runs, a few
// training steps can be timed ([Runner.Time]).
//
// A state of a trained model is the features of all nodes after a number of layers. A task may select states
// ([Follow]). The record of the training then has some numbers about each of these states.
package experiment
