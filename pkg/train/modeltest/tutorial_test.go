package modeltest_test

import (
	"fmt"
	"testing"

	"github.com/revgnn/revgnn/docs/pagetest"
)

// TestTutorial builds and runs the code that docs/add-a-model.md shows. The models on this page become files of package
// models, and the tests on the page are run. One piece of code on the page, the comparison of a model with its formula,
// is not a whole file. Here it becomes the body of a test function.
func TestTutorial(t *testing.T) {
	page, over := pagetest.Read(t, "add-a-model.md"), pagetest.NewOverlay(t)
	if n := len(page.Blocks("go", "")); n != 4 {
		t.Fatalf("the page has %d pieces of Go", n)
	}
	over.Add("pkg/models/gated.go", page.Block("go", `Name: "gated"`))
	over.Add("pkg/models/tanh.go", page.Block("go", `Name: "tanh"`))
	over.Add("pkg/models/tutorial_test.go", page.Block("go", "func TestGated("))
	over.Add("pkg/models/formula_test.go", fmt.Sprintf(`package models_test

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

func TestFormula(t *testing.T) {
%s}

func TestReversed(t *testing.T) { modeltest.Check(t, "tanh+rep") }
`, page.Block("go", "modeltest.Equals(")))
	over.Test("./pkg/models", "Gated", "Formula", "Reversed")
}
