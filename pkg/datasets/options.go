// Package datasets gives the graphs that experiments run on: the paper's 12 public datasets, Minesweeper graphs
// generated from a seed, and users' own. [Load] is all that most callers need. Files may be damaged or malicious:
// reading them limits the memory, never panics, and runs no code.
//
// The manifest, data/manifest.json, has the public files' addresses, sizes and checksums, and the graphs' statistics. A
// mirror is a folder or address with copies of these files. A split is three masks over the nodes. An archive is an npz
// file of arrays, by the names of Platonov et al. (2023) for heterophilic datasets; the Planetoid files of Cora,
// Citeseer and PubMed are Python pickles.
package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/graphs"
)

// Options say in which folder dataset files are kept, and from where they are fetched. The zero value stands for the
// default folder and the public addresses.
type Options struct {
	// Dir is the data directory; if empty, the function Dir chooses it. It may be read-only if it holds the files.
	Dir string
	// Mirror, if set, is a folder, or an http or https address, from which files are fetched, by their usual names, in
	// place of their public addresses.
	Mirror string
	// Offline forbids network access; a Mirror that is a folder still works.
	Offline bool
	// Progress, if set, is called while a file is fetched, with the number of bytes fetched so far and the file's size.
	Progress func(file string, done, total int64)
}

// Dir returns the path of the data directory, which need not exist yet: the argument (the value of the flag --data) if
// it is not empty, else REVGNN_DATA, else the folder "revgnn/data" in the user's cache folder.
func Dir(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if dir := os.Getenv("REVGNN_DATA"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no data directory: there is no user cache folder (%w); set REVGNN_DATA or give --data",
			err)
	}
	return filepath.Join(cache, "revgnn", "data"), nil
}

// Names returns the names of all datasets: the twelve of the paper, in the order of the paper, and then
// "minesweeper-generated".
func Names() []string {
	var names []string
	for _, s := range data.Datasets() {
		names = append(names, s.Name)
	}
	return append(names, MinesweeperGenerated)
}

// Info describes a public dataset (whose name may end in "-balanced", see [Load]) or a generated one, which has no
// files. The error for an unknown name lists similar names, or else all.
func Info(name string) (data.Dataset, error) {
	for _, s := range data.Datasets() {
		if s.Name == name || s.Name+data.Balanced == name && s.Format != data.Platonov {
			return s, nil
		}
	}
	if isGenerated(name) {
		return data.Dataset{Name: name, Task: data.ROCAUC, Licence: "none needed: generated",
			Citation: "Generated after the Minesweeper dataset of Platonov et al., ICLR 2023."}, nil
	}
	return data.Dataset{}, &NameError{unknownName(name)}
}

// Task returns the metric for predictions on a graph g that Load(name) returned: the paper's for a known dataset, else
// data.ROCAUC for two classes, and data.Accuracy for others.
func Task(name string, g *graphs.Graph) string {
	if info, err := Info(name); err == nil {
		return info.Task
	}
	if g != nil && g.NumClasses == 2 {
		return data.ROCAUC
	}
	return data.Accuracy
}

func isGenerated(name string) bool {
	return name == MinesweeperGenerated || strings.HasPrefix(name, MinesweeperGenerated+":")
}

// NameError is the error for a name that stands for no dataset, or that has wrong settings for a generated graph. The
// type lets callers tell a wrong name from an error of a file or of the network.
type NameError struct{ err error }

func (e *NameError) Error() string { return e.err.Error() }
func (e *NameError) Unwrap() error { return e.err }

func unknownName(name string) error {
	names := Names()
	var near []string
	for _, n := range names {
		if like(strings.ToLower(name), n) {
			near = append(near, n)
		}
	}
	if len(near) == 0 {
		return fmt.Errorf("unknown dataset %q; known are %s, an .npz or .json file, or a folder with edges.csv and nodes.csv",
			name, strings.Join(names, ", "))
	}
	return fmt.Errorf("unknown dataset %q; did you mean %s?", name, strings.Join(near, " or "))
}

// like tells whether a typed name resembles a known one: it begins with it, or becomes a beginning of it if a quarter
// of its bytes changes at most, or one in a short name. Hyphens, underscores and spaces do not count. Names of fewer
// than 3 or more than 64 bytes resemble no name.
func like(typed, known string) bool {
	flat := strings.NewReplacer("-", "", "_", "", " ", "").Replace
	a, b := flat(typed), flat(known)
	if len(a) < 3 || len(a) > 64 {
		return false
	}
	return strings.HasPrefix(a, b) || startDistance(a, b) <= max(1, len(a)/4)
}

// startDistance is the smallest Levenshtein distance between a and a beginning of b.
func startDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return slices.Min(row)
}
