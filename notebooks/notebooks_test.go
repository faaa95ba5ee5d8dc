// Package notebooks_test executes notebooks on the real kernel and looks at their figures in a real browser.
//
// It needs what `make setup` installs and, for the browser, Chromium or Chrome; tests whose needs are not met are
// skipped, and say what is missing. No test needs a network.
package notebooks_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// venv finds what `make setup` installs, or skips.
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

// run calls run.py. Its output is what both a reader and a test want to see.
func run(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	python := filepath.Join(venv(t), "bin", "python")
	out, err := exec.Command(python, append([]string{"run.py"}, args...)...).CombinedOutput()
	return string(out), err
}

// folder outlives single tests: what is executed once serves them all.
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

var once sync.Once

// executed returns the folder that holds testdata/figures.ipynb as executed (figures.ipynb) and as a page
// (figures.html).
func executed(t *testing.T) string {
	t.Helper()
	venv(t)
	once.Do(func() {
		if out, err := run(t, "testdata/figures.ipynb",
			"--html", filepath.Join(folder, "figures.html"), "--ipynb", filepath.Join(folder, "figures.ipynb")); err != nil {
			t.Fatalf("run.py: %v\n%s", err, out)
		}
	})
	if _, err := os.Stat(filepath.Join(folder, "figures.html")); err != nil {
		t.Fatal("the notebook could not be executed: see the first failure")
	}
	return folder
}

// figures in testdata/figures.ipynb.
const figures = 3

func TestSavedNotebook(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(executed(t), "figures.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	var notebook struct {
		Cells []struct {
			Outputs []struct {
				Data map[string]any `json:"data"`
			} `json:"outputs"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(text, &notebook); err != nil {
		t.Fatal(err)
	}
	var pictures, bars int
	for _, cell := range notebook.Cells {
		for _, out := range cell.Outputs {
			html := join(out.Data["text/html"])
			if strings.Contains(html, "<progress") {
				bars++
				if !strings.Contains(html, "all steps (") {
					t.Errorf("the saved progress bar is not in its final state: %s", html)
				}
			}
			if strings.Contains(html, `<img `) {
				pictures++
				if len(html) > 100_000 {
					t.Errorf("a figure takes %d bytes: is the library itself in it?", len(html))
				}
			}
		}
	}
	if pictures != figures || bars != 1 {
		t.Errorf("%d figures and %d progress bars are saved, want %d and 1", pictures, bars, figures)
	}
}

// join puts together what Jupyter may write as lines.
func join(value any) string {
	lines, ok := value.([]any)
	if !ok {
		text, _ := value.(string)
		return text
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.(string))
	}
	return b.String()
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
	out, err := run(t, "testdata/figures.ipynb", "--timeout", "1", "--parameters", "import \"time\"\n\nconst points = 40\n\n%%\ntime.Sleep(time.Minute)")
	if err == nil || !strings.Contains(out, "--timeout") {
		t.Errorf("run.py: %v, want a failure that names --timeout\n%s", err, out)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}
