// Package data has the data files that are embedded into the program: the manifest of public datasets, the paper's
// published numbers and claims (Park, Heo and Kim, ICML 2024), run records, profiles, spaces of searches, and cases of
// benchmarks.
package data

import (
	"embed"
	"encoding/json"
	"fmt"
	"iter"
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

// Datasets are the manifest's entries in the paper's order. Do not change them.
var Datasets = sync.OnceValue(func() []Dataset {
	var m struct{ Datasets []Dataset }
	if err := json.Unmarshal(read("manifest.json"), &m); err != nil {
		panic(err) // tests read it
	}
	return m.Datasets
})

//go:embed manifest.json bench/*.json paper/*.json records/*.json* settings/*.json spaces/*.json
var embedded embed.FS

// read returns the content of an embedded file that is known to exist.
func read(path string) []byte {
	b, err := embedded.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return b
}

// document is a JSON file of a folder.
func document(folder, name string) ([]byte, error) {
	b, err := embedded.ReadFile(folder + "/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("data/%s has no %q: choose %s", folder, name, strings.Join(names(folder), " or "))
	}
	return b, nil
}

// names are those of the JSON files in a folder, without its schema.
func names(folder string) (out []string) {
	entries, _ := embedded.ReadDir(folder)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && name != "schema" {
			out = append(out, name)
		}
	}
	return out
}

// SettingsNames are the names of profiles.
func SettingsNames() []string { return names("settings") }

// Settings is a profile as JSON, or "schema".
func Settings(name string) ([]byte, error) { return document("settings", name) }

// PublishedSpace is the space of a search if the user names none.
const PublishedSpace = "published"

// SpaceNames are the names of spaces: ranges from which a search draws settings.
func SpaceNames() []string { return names("spaces") }

// Space is a space as JSON, or "schema".
func Space(name string) ([]byte, error) { return document("spaces", name) }

// Paper returns as JSON what the paper published: "table1" to "table6", "figures" or "claims".
func Paper(name string) ([]byte, error) { return document("paper", name) }

// BenchCases are the cases of the command in the folder bench, as JSON.
func BenchCases() []byte { return read("bench/cases.json") }

// Records are the files of run records by their names, as `revgnn runs import` reads them.
func Records() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		entries, _ := embedded.ReadDir("records")
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".jsonl") && !yield(e.Name(), read("records/"+e.Name())) {
				return
			}
		}
	}
}

// Older is JSON: the commits whose trainings today's program does not repeat to the digit, and why.
func Older() []byte { return read("records/older.json") }
