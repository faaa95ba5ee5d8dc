package models_test

import (
	"fmt"
	"log"

	"github.com/revgnn/revgnn/pkg/models"
)

// This example looks up a model by its name, and sets settings by the names of their flags. It then lists the
// parameters that the model has for graphs with 7 features and 2 classes. docs/add-a-model.md explains how to register
// a new model.
func Example() {
	kind, err := models.Lookup("sage+rep")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(kind.Title, "is", kind.Plain, "with a reverse process")

	c := models.Default("sage+rep")
	for _, flag := range [][2]string{{"forward", "1"}, {"reverse", "16"}, {"hidden", "32"}} {
		if err := c.Set(flag[0], flag[1]); err != nil {
			log.Fatal(err)
		}
	}
	if err := c.Validate(); err != nil {
		log.Fatal(err)
	}
	parameters, err := models.Parameters(c, 7, 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range parameters {
		fmt.Println(p.Name, p.Shape)
	}
	// Output:
	// SAGE+ReP is sage-res with a reverse process
	// in_.weight [32 7]
	// in_.bias [32]
	// stack.0.body.lin.weight [32 32]
	// stack.0.body.ego.weight [32 32]
	// stack.0.body.bias [32]
	// out_norm.running_mean [64]
	// out_norm.running_var [64]
	// out_norm.weight [64]
	// out_norm.bias [64]
	// out.weight [1 64]
	// out.bias [1]
}
