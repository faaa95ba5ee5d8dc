package safetensors_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/safetensors"
)

// The example writes a file with one array and metadata, and reads it again.
func Example() {
	dir, err := os.MkdirTemp("", "safetensors")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	arrays := map[string]safetensors.Array{"fc.weight": {Shape: []int{2, 2}, Values: []float32{1, 2, 3, 4}}}
	if err := safetensors.Write(path, arrays, map[string]string{"model": "gcn"}); err != nil {
		log.Fatal(err)
	}

	file, err := safetensors.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	values, shape, err := file.Float32s("fc.weight")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.Names(), shape, values)
	fmt.Println("model:", file.Metadata["model"], "checksum verified:", file.Sealed)
	// Output:
	// [fc.weight] [2 2] [1 2 3 4]
	// model: gcn checksum verified: true
}
