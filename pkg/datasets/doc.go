// Package datasets gives the graphs that experiments run on: the paper's 12 public datasets, downloaded once and
// checked byte for byte; a seeded generator of Minesweeper graphs; and users' own graphs.
//
// Load is the one call that most callers need. Every parser here reads untrusted bytes: it bounds what it allocates,
// never panics, and executes nothing.
package datasets
