package trained_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// The example writes the parameters of a model for graphs with 5 features and 3 classes, and reads them again. At the
// end, it looks up each parameter of the model among those that were read.
func ExampleWriteWeights() {
	dir, err := os.MkdirTemp("", "weights")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c := models.Default("gcn+rep")
	c.Forward, c.Reverse, c.Hidden = 1, 2, 4
	list, err := models.Parameters(c, 5, 3)
	if err != nil {
		log.Fatal(err)
	}
	parameters := map[string]train.Array{}
	for _, p := range list {
		size := 1
		for _, d := range p.Shape {
			size *= d
		}
		parameters[p.Name] = train.Array{Shape: p.Shape, Values: make([]float32, size)}
	}
	path := filepath.Join(dir, "gcn.npz")
	if err := trained.WriteWeights(path, parameters); err != nil {
		log.Fatal(err)
	}

	read, err := trained.ReadWeights(path)
	if err != nil {
		log.Fatal(err)
	}
	wanted, _, err := trained.Pick(c, 5, 3, read)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range list {
		fmt.Println(p.Name, wanted[p.Name].Shape)
	}
	// Output:
	// in_.weight [4 5]
	// in_.bias [4]
	// stack.0.body.lin.weight [4 4]
	// stack.0.body.bias [4]
	// out.weight [3 8]
	// out.bias [3]
}
