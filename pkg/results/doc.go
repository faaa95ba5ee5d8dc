// Package results keeps a record of every run (training, inversion, benchmark, measurement, trial of a search) in one
// SQLite file, and moves records between such files and text that can be committed (JSON lines, CSV).
//
// Every record says what ran (kind, dataset, model, configuration, split, seed, engine), with what (versions, commit,
// machine), and with which result (status, outcome). A run that diverged or failed also has a record, with that
// status. [Bad] lists these statuses, so that no mean leaves such runs out unnoticed.
//
// The file has a rollback journal, not a write-ahead log. A write-ahead log needs memory shared by all processes,
// which network file systems do not have, and it keeps recent records in a second file, which a copy of the first one
// lacks. Records are rare enough for the journal's slower writes. Several processes may write at the same time; each
// waits for its turn. A record is on disk when Add returns, and a write that fails, as on a full disk, leaves all
// earlier records.
package results
