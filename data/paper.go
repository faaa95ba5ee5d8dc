package data

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed paper/*.json
var paper embed.FS

// Paper returns the numbers that the paper published in one of its tables or says of one of its figures, as JSON:
// "table1" to "table6", "figures", or "claims".
func Paper(name string) ([]byte, error) {
	b, err := paper.ReadFile("paper/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no published numbers are known as %q: choose table1 to table6, figures or claims", name)
	}
	return b, nil
}

//go:embed records/*.jsonl
var records embed.FS

// Records names the files of run records that are part of the program, as package results exports them.
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

// Record returns one of the files of run records.
func Record(name string) ([]byte, error) { return records.ReadFile("records/" + name) }

//go:embed records/older.json
var older []byte

// Older names the commits whose builds made trainings among the records that today's build does not repeat, and says
// why, as JSON.
func Older() []byte { return older }
