package data

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed paper/*.json
var paper embed.FS

// Paper returns as JSON what the paper published: "table1" to "table6", "figures" or "claims".
func Paper(name string) ([]byte, error) {
	b, err := paper.ReadFile("paper/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no published numbers are known as %q: choose table1 to table6, figures or claims", name)
	}
	return b, nil
}

//go:embed records/*.jsonl
var records embed.FS

// Records are the names of embedded files of run records, as `revgnn runs import` reads them.
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

func Record(name string) ([]byte, error) { return records.ReadFile("records/" + name) }

//go:embed records/older.json
var older []byte

// Older is JSON: the commits whose trainings today's program does not repeat to the digit, and why.
func Older() []byte { return older }
