package modeltest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTutorial builds and runs what docs/add-a-model.md has its readers write: its models become files of package
// models, and its tests run. What it shows beside whole files, a comparison with the formula, becomes a test.
func TestTutorial(t *testing.T) {
	page, err := os.ReadFile("../../../docs/add-a-model.md")
	if err != nil {
		t.Fatal(err)
	}
	var files, tests, parts []string
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		switch code := block[1]; {
		case strings.HasPrefix(code, "package models\n"):
			files = append(files, code)
		case strings.HasPrefix(code, "package models_test\n"):
			tests = append(tests, code)
		default:
			parts = append(parts, code)
		}
	}
	if len(files) != 2 || len(tests) != 1 || len(parts) != 1 {
		t.Fatalf("the page has %d models, %d tests and %d other pieces of Go", len(files), len(tests), len(parts))
	}
	tests = append(tests, "package models_test\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n\n"+
		"\t. \"github.com/gomlx/gomlx/core/graph\"\n\n\t\"github.com/revgnn/revgnn/pkg/train/modeltest\"\n)\n\n"+
		"func TestFormula(t *testing.T) {\n"+parts[0]+"}\n\n"+
		"func TestReversed(t *testing.T) { modeltest.Check(t, \"tanh+rep\") }\n")
	dir, replace := t.TempDir(), map[string]string{}
	for name, contents := range map[string][]string{"tutorial%d.go": files, "tutorial%d_test.go": tests} {
		for i, content := range contents {
			name := fmt.Sprintf(name, i)
			from := filepath.Join(dir, name)
			if err := os.WriteFile(from, []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
			to, err := filepath.Abs(filepath.Join("../../models", name))
			if err != nil {
				t.Fatal(err)
			}
			replace[to] = from
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	overlay := filepath.Join(dir, "overlay.json")
	if err := errors.Join(err, os.WriteFile(overlay, list, 0o666)); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "../../models", "-v", "-run",
		"^Test(Gated|Formula|Reversed)$")
	out, err := c.CombinedOutput()
	for _, name := range []string{"Gated", "Formula", "Reversed"} {
		if err != nil || !strings.Contains(string(out), "--- PASS: Test"+name+" ") {
			t.Fatalf("%v: %s", err, out)
		}
	}
}
