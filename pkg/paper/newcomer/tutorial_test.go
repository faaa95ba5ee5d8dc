package newcomer

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/revgnn/revgnn/docs/pagetest"
	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// TestTutorial does what the page docs/add-a-figure.md tells its readers to do. The page adds a figure to package
// paper, with a test. TestTutorial does so, too, without changing any file of the checkout. Then it runs the figure's
// test, and the test of all tables and figures of package paper. It also builds the page's program. It runs this
// program if ECharts, the library that draws figures, is installed.
func TestTutorial(t *testing.T) {
	page, over := pagetest.Read(t, "add-a-figure.md"), pagetest.NewOverlay(t)
	const last = "\t\titem(\"reversing\", \"What running a layer backwards adds to it\", reversing),\n"
	over.Change("pkg/paper/item.go", last, last+page.Block("go", `drawing("iterations", `))
	over.Add("pkg/paper/iterations.go", page.Block("go", "func iterations("))
	over.Add("pkg/paper/iterations_test.go", page.Block("go", "func TestIterations("))
	over.Add("tutorial/main.go", page.Block("go", "package main"))
	over.Test("./pkg/paper", "Iterations", "AllItems")

	program := filepath.Join(over.Dir, "decay")
	over.Go("build", "-o", program, "./tutorial")
	library, err := echarts.Path()
	if err != nil {
		t.Skipf("the program was built, and not run: %v", err)
	}
	t.Setenv(echarts.Variable, library)
	draw := exec.CommandContext(t.Context(), program)
	draw.Dir = over.Dir
	if out, err := draw.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"decay.svg", "decay.html"} {
		if _, err := os.Stat(filepath.Join(over.Dir, name)); err != nil {
			t.Error(err)
		}
	}
}
