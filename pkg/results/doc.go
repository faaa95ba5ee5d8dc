// Package results keeps a record of every run – training, inversion, benchmark, measurement, trial of a search – in one SQLite file, and
// moves records between such files and text that can be committed (JSON lines, CSV).
//
// Every record says what ran (kind, dataset, model, configuration, split, seed, engine), on what (versions, commit,
// machine), and what came of it (status, outcome). A run that diverged or failed is a record like any other, with that
// status; see [Bad] for how to ask for them, so that no mean leaves them out unseen.
//
// The file has a rollback journal, not a write-ahead log: a write-ahead log needs memory shared by all processes,
// which network file systems do not have, and keeps recent records in a second file that copying the first one misses.
// Records are few and far between, so that the journal's slower writes do not matter. Several processes may write at
// the same time; each waits for its turn. A record is on disk when Add returns, and a write that fails, as on a full
// disk, leaves all earlier ones.
package results
