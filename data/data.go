// Package data holds what the program knows about the public datasets, embedded into the binary: where their files
// are, what they must contain, and what graphs they give.
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

// Tasks, by the measure that the paper reports.
const (
	Accuracy = "accuracy" // several classes
	ROCAUC   = "roc_auc"  // two classes
)

// Balanced ends the name of a homophilic dataset with class-balanced splits in place of the paper's, as in
// "citeseer-balanced".
const Balanced = "-balanced"

// Base is the name of the dataset whose files a name stands for, which is all of it but for [Balanced].
func Base(name string) string { return strings.TrimSuffix(name, Balanced) }

// Dataset is one entry of the manifest.
type Dataset struct {
	Name       string     `json:"name"`
	Format     string     `json:"format"`
	Task       string     `json:"task"`
	Licence    string     `json:"licence"`
	Citation   string     `json:"citation"`
	Statistics Statistics `json:"statistics"`
	// Files are all files of the dataset as published. Of a Planetoid dataset, x and y repeat the first rows of allx
	// and ally; they are kept so that the folder also serves other programs.
	Files []File `json:"files"`
	// Directed is a file that has the same graph's edges in their directions, for the few models that read them.
	Directed *File `json:"directed,omitempty"`
}

// All are all files of the dataset, that of directions among them.
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
	// SHA256SecondHand says that SHA256 was reported by others and not computed from the file.
	SHA256SecondHand bool `json:"sha256_second_hand,omitempty"`
	// GitBlob is the file's id in the upstream repository: the SHA-1 of "blob <bytes>", a zero byte and the content.
	GitBlob string `json:"git_blob,omitempty"`
}

// Statistics are the expected properties of the graph; the homophilies are rounded to Decimals.
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

// Datasets returns the manifest's entries in the paper's order. The caller must not change them.
func Datasets() ([]Dataset, error) { return parse() }
