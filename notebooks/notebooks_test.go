// Package notebooks_test executes the notebooks with the Go kernel, and checks their figures in a browser.
//
// The tests need what `make setup` installs. Tests in a browser also need Chromium or Chrome. If something is missing,
// tests that need it are skipped, and their messages say what is missing. No test needs a network.
package notebooks_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// venv returns the path of .venv, where `make setup` installs what notebooks need. If something is missing there, the
// test is skipped.
func venv(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../.venv")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"bin/jupyter-lab", "bin/gonb", "share/jupyter/kernels/revgnn/kernel.json"} {
		if _, err := os.Stat(filepath.Join(dir, part)); err != nil {
			t.Skipf("no .venv/%s: run `make setup` to test notebooks", part)
		}
	}
	return dir
}

// run calls run.py, which executes notebooks. It returns everything that run.py writes to stdout and stderr.
func run(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	python := filepath.Join(venv(t), "bin", "python")
	out, err := exec.Command(python, append([]string{"run.py"}, args...)...).CombinedOutput()
	return string(out), err
}

// folder is the path of a folder for the executed notebooks. It exists until all tests have ended, so that all tests
// can use the same executed notebooks.
var folder string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if folder, err = os.MkdirTemp("", "revgnn-notebooks"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		return m.Run()
	}())
}

// A saved is an executed notebook. Its files in [folder] are name.ipynb and name.html. figures is the number of its
// figures. err is set if the notebook could not be executed.
type saved struct {
	name    string
	figures int
	err     error
}

// executeAll executes all notebooks, and testdata/figures.ipynb, two at a time. The notebooks of the paper's tables and
// figures read the run records that come with revgnn. They make no runs that are missing there.
var executeAll = sync.OnceValue(func() []*saved {
	files, err := filepath.Glob("*.ipynb")
	if err != nil || len(files) == 0 {
		panic(fmt.Sprint("no notebooks here: ", err))
	}
	files = append(files, "testdata/figures.ipynb")
	all := make([]*saved, len(files))
	var workers sync.WaitGroup
	turns := make(chan bool, 2)
	for i, file := range files {
		workers.Go(func() {
			turns <- true
			defer func() { <-turns }()
			all[i] = execute(file)
		})
	}
	workers.Wait()
	return all
})

func execute(file string) *saved {
	s := &saved{name: strings.TrimSuffix(filepath.Base(file), ".ipynb")}
	to := filepath.Join(folder, s.name)
	cmd := exec.Command("../.venv/bin/python", "run.py", file, "--small", "--html", to+".html", "--ipynb", to+".ipynb")
	cmd.Env = append(os.Environ(), "REVGNN_RUNS="+to+".sqlite", "REVGNN_NOTEBOOK_SECONDS=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.err = fmt.Errorf("%s: %w\n%s", file, err, out)
		return s
	}
	text, err := os.ReadFile(to + ".ipynb")
	s.figures, s.err = strings.Count(string(text), `class=\"revgnn-figure\"`), err
	return s
}

// executed returns all executed notebooks. If one of them could not be executed, the test fails.
func executed(t *testing.T) []*saved {
	t.Helper()
	venv(t)
	all := executeAll()
	for _, s := range all {
		if s.err != nil {
			t.Fatal(s.err)
		}
	}
	return all
}

// figures is the number of figures in testdata/figures.ipynb.
const figures = 3

// TestFigures checks that notebooks have at least the expected number of figures. The notebooks of the paper's figures
// need no new runs, since the run records that come with revgnn contain these runs.
func TestFigures(t *testing.T) {
	least := map[string]int{"quickstart": 4, "minesweeper": 2, "your-own-graph": 2, "figures": figures, "fig1": 3,
		"fig2": 2, "fig3": 2, "fig4": 2, "fig5": 1, "fig6": 1}
	for _, s := range executed(t) {
		if s.figures < least[s.name] {
			t.Errorf("%s has %d figures, want at least %d", s.name, s.figures, least[s.name])
		}
		t.Logf("%s: %d figures", s.name, s.figures)
	}
}

func TestFailingCell(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	out, err := run(t, "testdata/figures.ipynb", "--html", page, "--parameters", "const points = nonsense")
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
		t.Fatalf("run.py: %v, want exit status 1\n%s", err, out)
	}
	if !strings.Contains(out, "undefined: nonsense") {
		t.Errorf("the message does not hold the compiler's:\n%s", out)
	}
	if _, err := os.Stat(page); err == nil {
		t.Error("a page was written in spite of the failing cell")
	}
}

func TestTimeout(t *testing.T) {
	start := time.Now()
	out, err := run(t, "testdata/figures.ipynb", "--timeout", "1",
		"--parameters", "import \"time\"\n\nconst points = 40\n\n%%\ntime.Sleep(time.Minute)")
	if err == nil || !strings.Contains(out, "--timeout") {
		t.Errorf("run.py: %v, want a failure that names --timeout\n%s", err, out)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}
