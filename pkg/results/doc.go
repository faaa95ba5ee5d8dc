// Package results keeps a record of every run (training, inversion, benchmark, measurement, trial of a search) in one
// SQLite file, and moves records between such files and text that can be committed (JSON lines, CSV).
//
// Every record says what ran (kind, dataset, model, configuration, split, seed, engine), on what (versions, commit,
// machine), and with which result (status, outcome). A run that diverged or failed also has a record; its status says
// so. [Bad] lists the statuses of runs that must not count in a mean.
//
// The file has a rollback journal, not a write-ahead log. A write-ahead log needs memory that all processes share,
// which network file systems do not offer. It also keeps recent records in a second file, so that a copy of the first
// file alone lacks them. The journal's writes are slower, but records are written rarely. Several processes may write
// at the same time; each waits for its turn. A record is on disk when [Store.Add] returns. A write that fails, for
// example because the disk is full, does not change earlier records.
package results
