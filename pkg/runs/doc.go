// Package runs makes runs (trainings, inversions, benchmarks, measurements, trials of searches) and keeps a record of
// each in one SQLite file, the [Store], from which records are exported as text.
//
// A [Task] says what one run does. A [Work] asks a [View] for the results of tasks and makes something of them, such
// as a table; [Runner] makes the runs that it asks for and that are not recorded yet. So an interrupted command can be
// given again.
//
// Several processes may use one store: each claims a run before it makes it ([Claims]). A record is on disk when
// [Store.Add] returns, and a write that fails changes nothing. SQLite uses a rollback journal: a write-ahead log would
// be faster, but does not work on network file systems, and a copy of the file without the log would lack the latest
// records.
package runs
