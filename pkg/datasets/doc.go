// Package datasets gives the graphs that experiments run on: the paper's 12 public datasets, downloaded once and
// compared with their published checksums; Minesweeper graphs, generated from a seed; and users' own graphs.
//
// [Load] is the only function that most callers need. Every parser here reads files that may be damaged or malicious:
// it limits the memory that it allocates, never panics, and runs no code from the file.
package datasets
