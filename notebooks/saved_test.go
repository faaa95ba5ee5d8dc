package notebooks_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// savedCell has those parts of a notebook's cell that the tests read.
type savedCell struct {
	Type    string `json:"cell_type"`
	Source  any    `json:"source"`
	Outputs []struct {
		Data map[string]any `json:"data"`
	} `json:"outputs"`
}

// cells reads the cells of a saved notebook.
func cells(t *testing.T, file string) []savedCell {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var notebook struct {
		Cells []savedCell `json:"cells"`
	}
	if err := json.Unmarshal(text, &notebook); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return notebook.Cells
}

// outputs returns the outputs of a saved notebook's cells, as HTML.
func outputs(t *testing.T, file string) (html []string) {
	t.Helper()
	for _, cell := range cells(t, file) {
		for _, out := range cell.Outputs {
			html = append(html, join(out.Data["text/html"]))
		}
	}
	return html
}

// join returns a text of a notebook's file as one string. Jupyter may save a text as one string or as a list of lines.
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

func TestSavedNotebook(t *testing.T) {
	executed(t)
	var pictures, bars int
	for _, html := range outputs(t, filepath.Join(folder, "figures.ipynb")) {
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
	if pictures != figures || bars != 1 {
		t.Errorf("%d figures and %d progress bars are saved, want %d and 1", pictures, bars, figures)
	}
}

// TestReadme compares the README with the saved notebook quickstart.ipynb. The picture that the README shows must be
// the picture in the notebook, and the README must contain the scores in this picture.
func TestReadme(t *testing.T) {
	picture, err := os.ReadFile("../docs/quickstart-mines.svg")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	figure := regexp.MustCompile(`(?s)<div id="quickstart-mines".*?src="data:image/svg\+xml,([^"]*)"`)
	found := figure.FindStringSubmatch(strings.Join(outputs(t, "quickstart.ipynb"), ""))
	if found == nil {
		t.Fatal("quickstart.ipynb has no figure quickstart-mines: save it with its results")
	}
	saved, err := url.PathUnescape(found[1])
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(saved) != strings.TrimSpace(string(picture)) {
		t.Error("docs/quickstart-mines.svg is not the picture in quickstart.ipynb: `make notebooks` writes both")
	}
	scores := regexp.MustCompile(`>([A-Za-z+]+: [0-9.]+ %)<`).FindAllStringSubmatch(saved, -1)
	if len(scores) != 4 {
		t.Errorf("the picture has the scores %q, want four networks'", scores)
	}
	for _, score := range scores {
		if !strings.Contains(string(readme), score[1]) {
			t.Errorf("README.md does not have %q", score[1])
		}
	}
}

// TestShort checks the code of the notebooks that people read first. The code must have few lines, at most 120 columns,
// and one statement per line.
func TestShort(t *testing.T) {
	for file, most := range map[string]int{"quickstart.ipynb": 45, "your-own-graph.ipynb": 50} {
		lines := 0
		for _, cell := range sources(t, file) {
			for line := range strings.Lines(cell) {
				line = strings.TrimRight(line, "\n")
				if width := len([]rune(strings.ReplaceAll(line, "\t", "    "))); width > 120 {
					t.Errorf("%s: a line of %d columns: %s", file, width, line)
				}
				code := strings.TrimSpace(line)
				if code == "" || strings.HasPrefix(code, "//") {
					continue
				}
				lines++
				if strings.Contains(code, ";") {
					t.Errorf("%s: several statements in a line: %s", file, line)
				}
			}
		}
		if lines > most {
			t.Errorf("%s has %d lines of code, want %d at most", file, lines, most)
		}
	}
}

// sources returns the code of a notebook's code cells.
func sources(t *testing.T, file string) (code []string) {
	t.Helper()
	for _, cell := range cells(t, file) {
		if cell.Type == "code" {
			code = append(code, join(cell.Source))
		}
	}
	return code
}
