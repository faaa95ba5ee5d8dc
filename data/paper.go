package data

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed paper/*.json
var paper embed.FS

// Paper returns numbers that the paper published, as JSON. The argument is "table1" to "table6" for one of the paper's
// tables, "figures" for what the paper says about its figures, or "claims" for the paper's claims.
func Paper(name string) ([]byte, error) {
	b, err := paper.ReadFile("paper/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no published numbers are known as %q: choose table1 to table6, figures or claims", name)
	}
	return b, nil
}

//go:embed records/*.jsonl
var records embed.FS

// Records returns the names of the files of run records that are embedded into the program. The command `revgnn runs
// import` can read such files.
func Records() ([]string, error) {
	found, err := fs.Glob(records, "records/*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("the embedded data/records cannot be listed (%w); rebuild from a clean checkout", err)
	}
	for i, path := range found {
		found[i] = path[len("records/"):]
	}
	return found, nil
}

// Record returns the content of a file of run records. The name is one of those that [Records] returns.
func Record(name string) ([]byte, error) { return records.ReadFile("records/" + name) }

//go:embed records/older.json
var older []byte

// Older returns, as JSON, a list of older commits of revgnn and a sentence about them. Some trainings in the run
// records were made by these commits, and today's program does not repeat their numbers exactly. The sentence says why.
func Older() []byte { return older }
