// Package results keeps a record of every run (training, inversion, benchmark, measurement, trial of a search) in one
// SQLite file. It also exports records from such a file to text files (JSON lines, CSV), and imports them from there.
//
// Every record says what ran (kind, dataset, model, configuration, split, seed, engine), on what (versions, commit,
// machine), and with which result (status, outcome). A run that diverged or failed also has a record; its status says
// so. [Bad] lists the statuses of runs that must not count in a mean.
//
// Several processes may write to the file at the same time; each waits for its turn. A record is on disk when
// [Store.Add] returns. A write that fails, for example because the disk is full, does not change earlier records.
//
// SQLite can protect a file in two ways while it is written: by a rollback journal, which is a temporary file with the
// old content, or by a write-ahead log, which is a second file with the new content. This package uses the journal. A
// write-ahead log would be faster, but it needs memory that all processes share, which network file systems do not
// offer, and a copy of the SQLite file without the log would lack the latest records.
//
// A definition is the part of a record from which its key is computed ([Record.Definition]). A cell is one value of a
// record as text: records are stored as rows of cells. A checksum is a SHA-256: each record has one of the graph, and
// each row has one of its own cells. An export is a text file with records.
package results
