// Package runs makes runs and keeps a record of every run (training, inversion, benchmark, measurement, trial of a search) in one
// SQLite file. It also exports records from such a file to text files (JSON lines, CSV), and imports them from there.
//
// Every record says what ran (kind, dataset, model, configuration, split, seed, engine), on what (versions, commit,
// machine), and with which result (status, outcome). A run that diverged or failed also has a record; its status says
// so. [Bad] lists the statuses of runs whose results must not be averaged with others.
//
// Several processes may write to the file at the same time; each waits for its turn. A record is on disk when
// [Store.Add] returns. A write that fails, for example because the disk is full, does not change earlier records.
//
// A crash in the middle of a write must not damage the file. SQLite has two methods against this: a rollback journal,
// which is a temporary file with the old content, and a write-ahead log, which is a second file with the new content.
// This package uses the journal. A write-ahead log would be faster, but it does not work on network file systems.
// Besides, a copy of the SQLite file without the log would lack the latest records.
//
// The definition of a run is the part of its record that says what was computed: model, dataset, settings and so on
// ([Record.Definition]). The key is a hash of the definition: runs that do the same have the same key. The SQLite file
// has one table, with a row for each record. A cell is one value of a row, as text. An export is a text file with
// records.
//
// There are two kinds of checksums, both SHA-256. The checksum of a graph is one of the values of a record. The
// checksum of a row is computed from all cells of the row, and shows whether the row is damaged.
//
// A run is a training, an inversion (layers with random weights, run forwards
// and then backwards), a benchmark, or a measurement of a dataset. Each run is recorded as soon as it ends. An
// interrupted command can therefore be given again, and goes on where it stopped.
//
// A [Task] says what one run does: its kind, dataset, split and settings. The key of a task is a hash of its content
// ([Task.Key]). The record of a run is found by this key. Records are kept in a store, which is an SQLite file
// ([Store]). Several processes may use the same store. Each process claims a run before it makes the run
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
package runs
