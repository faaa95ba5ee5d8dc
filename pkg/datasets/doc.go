// Package datasets gives the graphs that experiments run on. These are the 12 public datasets of the paper (Park, Heo
// and Kim, ICML 2024), Minesweeper graphs that are generated from a seed, and users' own graphs.
//
// [Load] is the only function that most callers need. The code that reads files assumes that a file may be damaged or
// malicious: it limits the memory that it allocates, never panics, and runs no code from the file.
//
// Terms used in this package:
//   - The manifest is the file data/manifest.json in the repository. For each public dataset it lists the files, their
//     addresses, sizes and checksums, and the statistics that the graph must have.
//   - The data directory is the folder in which downloaded files are kept.
//   - A mirror is a folder or a web address that holds copies of the files of public datasets. If the user gives a
//     mirror, the files are fetched from the mirror, and not from their public addresses.
//   - A split divides the nodes into nodes for training, validation and test. It consists of three masks. A mask has
//     one boolean for each node.
//   - Homophilic datasets are Cora, Citeseer, PubMed, Computers and Photo. The other public datasets are heterophilic.
//     Their archives have the array names of Platonov et al. (2023).
//   - An archive is a file in NumPy's format npz: a zip file of arrays.
//   - A pickle is a file in the format in which Python stores objects. A pickle consists of instructions, which Python
//     would execute to make the objects. The files of Cora, Citeseer and PubMed are called the Planetoid files. Most of
//     them are pickles.
package datasets
