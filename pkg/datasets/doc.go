// Package datasets gives the graphs that experiments run on: the paper's 12 public datasets, Minesweeper graphs
// generated from a seed, and users' own. [Load] is all that most callers need. Files may be damaged or malicious:
// reading them limits the memory, never panics, and runs no code.
//
// The manifest, data/manifest.json, has the public files' addresses, sizes and checksums, and the graphs' statistics. A
// mirror is a folder or address with copies of these files. A split is three masks over the nodes. An archive is an npz
// file of arrays, by the names of Platonov et al. (2023) for heterophilic datasets; the Planetoid files of Cora,
// Citeseer and PubMed are Python pickles.
package datasets
