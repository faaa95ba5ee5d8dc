// Package results keeps a record of every run (training, inversion, benchmark, measurement, trial of a search) in one
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
package results
