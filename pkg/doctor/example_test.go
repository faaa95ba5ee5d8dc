package doctor_test

import (
	"fmt"
	"log"
	"os"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/doctor"
)

// The folder of datasets is empty in this example, so that the report lists only datasets that need no files. The
// engine "abacus" does not exist.
func ExampleExamine() {
	dir, err := os.MkdirTemp("", "data")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	r := doctor.Examine("go", datasets.Options{Dir: dir})
	fmt.Println("engine:", r.Engine, "datasets that need no files:", r.Datasets)

	r = doctor.Examine("abacus", datasets.Options{Dir: dir})
	fmt.Println("abacus can be used:", r.Error == "")
	// Output:
	// engine: go datasets that need no files: [minesweeper-generated]
	// abacus can be used: false
}
