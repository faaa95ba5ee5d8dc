// Package data holds the data files that are embedded into the program:
//
//   - the manifest (manifest.json), a list of the public datasets: where their files are, what the files must contain,
//     and what the statistics of their graphs are
//   - the numbers that the paper published (Park, Heo and Kim, ICML 2024)
//   - run records
//   - profiles: lists of the runs that the paper's tables and figures need, with their settings
//   - spaces: the ranges from which a search draws settings
//   - the cases of the benchmark, which times models
package data

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Formats of the public files.
const (
	Platonov     = "platonov"      // one npz archive with features, labels, edges and masks
	Planetoid    = "planetoid"     // eight files, Python pickles
	GNNBenchmark = "gnn-benchmark" // one npz archive with sparse matrices in compressed row form
)

// These are the tasks of datasets, named by the metric that the paper reports.
const (
	Accuracy = "accuracy" // several classes
	ROCAUC   = "roc_auc"  // two classes
)

// Balanced is the ending of names such as "citeseer-balanced". Such a name stands for a homophilic dataset with
// class-balanced splits, which replace the paper's splits.
const Balanced = "-balanced"

// Base returns the name of a dataset without the ending [Balanced]. For example, "citeseer" and "citeseer-balanced"
// have the same files, and both have the base "citeseer".
func Base(name string) string { return strings.TrimSuffix(name, Balanced) }

// Dataset is one entry of the manifest (manifest.json), which describes the public datasets.
type Dataset struct {
	Name       string     `json:"name"`
	Format     string     `json:"format"`
	Task       string     `json:"task"`
	Licence    string     `json:"licence"`
	Citation   string     `json:"citation"`
	Statistics Statistics `json:"statistics"`
	// Files are all files of the dataset as it was published. A Planetoid dataset has two files, x and y, that revgnn
	// does not need, since their rows are also the first rows of the files allx and ally. They are listed so that other
	// programs can use the same folder.
	Files []File `json:"files"`
	// Directed is a further file with the edges of the same graph and their directions. It is nil if there is no such
	// file. Only a few models read the directions.
	Directed *File `json:"directed,omitempty"`
}

// All returns all files of the dataset: Files and, if it is not nil, Directed.
func (d Dataset) All() []File {
	if d.Directed == nil {
		return d.Files
	}
	return append(slices.Clone(d.Files), *d.Directed)
}

// File is one public file.
type File struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	// SHA256SecondHand is true if SHA256 was not computed from the file itself, but was taken from a report of others.
	// SHA256 may then be wrong, so that a file with the right GitBlob is accepted, too.
	SHA256SecondHand bool `json:"sha256_second_hand,omitempty"`
	// GitBlob is the ID of the file in the git repository where it was published. It is the SHA-1 of the text "blob ",
	// the file's size in bytes as decimal text, a zero byte and the content of the file.
	GitBlob string `json:"git_blob,omitempty"`
}

// Statistics are the expected properties of the graph. The values of homophily are rounded to the number of decimals in
// the field Decimals.
type Statistics struct {
	Nodes             int     `json:"nodes"`
	Edges             int     `json:"edges"`
	DirectedEdges     int     `json:"directed_edges,omitempty"` // of the file of directions
	Classes           int     `json:"classes"`
	Features          int     `json:"features"`
	EdgeHomophily     float64 `json:"edge_homophily"`
	AdjustedHomophily float64 `json:"adjusted_homophily"`
	Decimals          int     `json:"decimals"`
}

//go:embed manifest.json
var manifest []byte

var parse = sync.OnceValues(func() ([]Dataset, error) {
	var m struct{ Datasets []Dataset }
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, fmt.Errorf("the embedded data/manifest.json is damaged (%w); rebuild from a clean checkout", err)
	}
	return m.Datasets, nil
})

// Datasets returns the entries of the manifest (manifest.json), in the order of the paper. The caller must not change
// them.
func Datasets() ([]Dataset, error) { return parse() }
