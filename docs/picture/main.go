// Command picture draws docs/packages.svg, the picture of docs/tour.md: which package of revgnn imports which. It reads
// the imports from `go list`, so that the picture shows the code as it is. Run it from the checkout after a change of
// packages or of their imports; a test fails until then:
//
//	go run ./docs/picture
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
)

// module begins the import path of every package of revgnn.
const module = "github.com/revgnn/revgnn/"

// rooms are the packages by what they are for, in the order of the legend, each with its colour. The names are import
// paths without [module].
var rooms = []struct {
	name, colour string
	packages     []string
}{
	{"programs", "#fff2cc", []string{"bench", "cmd/revgnn", "docker/records", "docker/watch", "docs/picture",
		"kernels/install"}},
	{"runs and documents", "#f8d9c4", []string{"pkg/experiment", "pkg/paper", "pkg/results", "pkg/runpage", "pkg/search",
		"pkg/sweep", "pkg/trained", "pkg/report", "pkg/report/nb", "pkg/report/nb/live"}},
	{"models and training", "#cfe2f3", []string{"pkg/gradient", "pkg/layers", "pkg/loop", "pkg/models", "pkg/solve",
		"pkg/sparse", "pkg/train"}},
	{"graphs and data", "#d9ead3", []string{"data", "pkg/datasets", "pkg/graphs", "pkg/metrics"}},
	{"engine, machine and files", "#e6e6e6", []string{"pkg/doctor", "pkg/engine", "pkg/files", "pkg/host", "pkg/machine",
		"pkg/npz", "pkg/plain", "pkg/report/echarts", "pkg/report/raster", "pkg/roofline", "pkg/safetensors",
		"pkg/weights"}},
}

func main() {
	err := write("docs/packages.svg")
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	svg, err := draw(".")
	if err != nil {
		return err
	}
	return files.WriteText(path, svg)
}

// draw returns the picture of the checkout in a folder.
func draw(dir string) (string, error) {
	imports, err := imports(dir)
	if err != nil {
		return "", err
	}
	if err := known(imports); err != nil {
		return "", err
	}
	return svg(arrange(reduced(imports))), nil
}

// imports lists the packages of revgnn that each of its packages imports. Packages for tests alone, those with names
// that end in "test", are left out, as are those without imports and importers, which have no arrow.
func imports(dir string) (map[string][]string, error) {
	list := exec.Command("go", "list", "-f", `{{if .GoFiles}}{{.ImportPath}} {{join .Imports " "}}{{end}}`, "./...")
	list.Dir = dir
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64") // the same picture on every machine
	out, err := list.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("go list: %s", strings.TrimSpace(string(exit.Stderr)))
	} else if err != nil {
		return nil, err
	}
	all, used := map[string][]string{}, map[string]bool{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasSuffix(words[0], "test") {
			continue
		}
		name := strings.TrimPrefix(words[0], module)
		all[name] = nil
		for _, path := range words[1:] {
			if to, ours := strings.CutPrefix(path, module); ours {
				all[name], used[to] = append(all[name], to), true
			}
		}
	}
	for name, to := range all {
		if len(to) == 0 && !used[name] {
			delete(all, name)
		}
	}
	return all, nil
}

// known returns an error for a package that is in none of the rooms, or a name in a room that is no package.
func known(imports map[string][]string) error {
	placed := map[string]bool{}
	for _, room := range rooms {
		for _, name := range room.packages {
			if _, ok := imports[name]; !ok {
				return fmt.Errorf("the room %q has %s, which is no package, or has no arrow: change rooms in "+
					"docs/picture/main.go", room.name, name)
			}
			placed[name] = true
		}
	}
	for _, name := range sorted(imports) {
		if !placed[name] {
			return fmt.Errorf("package %s is in no room: add it to rooms in docs/picture/main.go", name)
		}
	}
	return nil
}

// reduced leaves out every import that a longer way leads to as well: of A to B, B to C and A to C the last.
func reduced(imports map[string][]string) map[string][]string {
	out := map[string][]string{}
	for name, to := range imports {
		out[name] = slices.DeleteFunc(slices.Clone(to), func(direct string) bool {
			return slices.ContainsFunc(to, func(other string) bool {
				return other != direct && reaches(imports, other, direct)
			})
		})
	}
	return out
}

// reaches tells whether imports lead from one package to another.
func reaches(imports map[string][]string, from, to string) bool {
	return slices.ContainsFunc(imports[from], func(next string) bool {
		return next == to || reaches(imports, next, to)
	})
}

// sorted are the keys in order, so that the same packages give the same picture.
func sorted[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
