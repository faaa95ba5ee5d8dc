// Package data has the data files that are embedded into the program: the manifest of public datasets, the paper's
// published numbers and claims (Park, Heo and Kim, ICML 2024), run records, profiles, spaces of searches, and cases of
// benchmarks.
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

// Balanced ends names such as "citeseer-balanced": a homophilic dataset with class-balanced splits in place of the
// paper's.
const Balanced = "-balanced"

// Base is the name without [Balanced]: both have the same files.
func Base(name string) string { return strings.TrimSuffix(name, Balanced) }

// Dataset is one entry of the manifest (manifest.json), which describes the public datasets.
type Dataset struct {
	Name       string     `json:"name"`
	Format     string     `json:"format"`
	Task       string     `json:"task"`
	Licence    string     `json:"licence"`
	Citation   string     `json:"citation"`
	Statistics Statistics `json:"statistics"`
	// Files are all files as published, also x and y of a Planetoid dataset, which revgnn does not need.
	Files []File `json:"files"`
	// Directed is a file with the directions of the edges, or nil. Few models read them.
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
	// SHA256SecondHand checksums were reported by others and may be wrong: the right GitBlob counts, too.
	SHA256SecondHand bool `json:"sha256_second_hand,omitempty"`
	// GitBlob is the file's ID in the git repository where it was published.
	GitBlob string `json:"git_blob,omitempty"`
}

// Statistics are what the graph must have; homophily is rounded to Decimals.
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

// Datasets are the manifest's entries in the paper's order. Do not change them.
func Datasets() ([]Dataset, error) { return parse() }
